// Package streams answers receivers that connect by themselves, by a WebSocket or by long polls.
//
// [Register] adds the calls. It returns the [Receivers], which the server drains when it stops.
package streams

// Package e2e holds the tests that need the whole house: a real Temporal
// server in process, the real worker and API, and a real HTTP receiver. Some
// run the programs as processes of their own and kill them.
//
// What a room can prove by itself is tested in that room.
package e2e

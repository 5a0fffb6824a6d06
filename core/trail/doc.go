// Package trail has the records of calls that change something, as files, events and the API show
// them.
//
// A reader starts with [Record].
package trail

// Package operations answers the calls outside of the contract: the index, health, readiness,
// metrics, the description of the API, and the console.
//
// [Register] adds the calls, and [MountConsole] the console.
package operations

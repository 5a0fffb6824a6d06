// Package e2e holds the tests that need the whole of Wakecall: a real Temporal
// server in process, the real worker and API, and a real HTTP receiver. Those
// that run the programs as processes of their own, and kill them, are in
// e2e/programs, e2e/fault and e2e/pace.
//
// What a package can prove by itself is tested in that package.
package e2e

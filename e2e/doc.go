// Package e2e holds the tests that need the whole of Wakecall. Each subject is a package:
//
//   - timers, deliveries, operations, dispatches, front and temporal run a real Temporal server, the
//     real worker and API, and a real HTTP receiver in one process
//   - programs, fault, pace and deploy run the programs as processes of their own, and kill them
//   - testenv, process, receiver, sample and contract are what they share
//
// What a package can prove by itself is tested in that package.
package e2e

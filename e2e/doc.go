// Package e2e holds the tests that need the whole of Wakecall. Each subject is a package:
//
//   - timers, deliveries, failover, operations, dispatches and front run a real Temporal server,
//     the real worker and API, and a real HTTP receiver in one process
//   - programs, fault, pace and deploy run the programs as separate processes, and kill them
//   - dispatch and isolation measure
//   - testenv, temporal, process, receiver, sample and contract are shared by the others
//
// A property that one package can prove by itself is tested in that package.
package e2e

// Package workflows holds the deterministic part of Wakecall. Each of these is a Temporal
// workflow:
//
//   - a [Timer]
//   - the [Policy] of a business type, and the [PolicyRegistry] of all types with one
//   - a [Dispatch], and each [DispatchShard] of it
//   - a [Job] on many items, such as a bulk change
//   - a [Ledger], which counts how timers end
//   - an [Alert] or an outcome on its way
//   - a [TestRing], which sends a test event
//   - the readiness [Probe]
//   - [Notify], which reaches the worker that has preloaded a timer
//   - [AnswerRing], which brings an answer to another gateway
//
// No worker runs emergencies, pages of items and pages of bulk jobs. They are workflows only
// to store a memo or an input.
//
// Start at [Timer]. A timer is cold until it is due: Temporal's server holds its start delay
// or its continue-as-new backoff, nothing runs and no worker is needed. It wakes shortly
// before it rings, and its worker preloads it. Each step of a run returns a decision: the
// timer goes on in another run, or has ended. One place carries the decision out. Temporal
// tells a workflow nothing while a worker has its task. So a change or cancel of a preloaded
// timer reaches that worker through [Notify].
//
// contract.go holds every name that Temporal stores. The package does no I/O and never
// imports the activities: it refers to them by name.
//
// The package stands at the top of the tree because it is a room of the architecture. It
// promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package workflows

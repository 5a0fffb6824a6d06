// Package workflows holds the deterministic part of Wakecall: the life of a
// timer, of a policy, and of the readiness probe, each as a Temporal workflow.
//
// A [Timer] is cold until it is due: its start delay or its continue-as-new
// backoff is held by Temporal's server, nothing runs and no worker is needed. It
// wakes shortly before it rings, and its worker preloads it: the first attempt
// waits in memory for the instant. Each step of a run returns a decision (it goes
// on in another run, or has ended so), and one place carries it out. Temporal tells
// a workflow nothing while a worker has its task, so whoever changes or cancels a
// preloaded timer has a [Notify] reach that worker.
//
// Every name that Temporal stores stands in contract.go. The package does no
// I/O and never imports the activities: it asks for them by name.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package workflows

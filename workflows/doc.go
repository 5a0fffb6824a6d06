// Package workflows holds the deterministic part of Wakecall: the life of a
// timer, of a policy, and of the readiness probe, each as a Temporal workflow.
//
// A [Timer] is cold until it is due: its start delay or its continue-as-new
// backoff is held by Temporal's server, nothing runs and no worker is needed.
// When it wakes, shortly before it rings, it looks at the clock, at what changed,
// and at whether it was cancelled, in that order. Its worker then holds it, rings
// it, and gives it back if it is called off meanwhile: Temporal tells a workflow
// nothing while a worker has its task, so whoever calls it off has a [Nudge]
// reach that worker.
//
// Every name that Temporal stores stands in contract.go. The package does no
// I/O and never imports the activities: it asks for them by name.
package workflows

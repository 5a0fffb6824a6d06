// Package workflows holds the deterministic part of Wakecall. Each of these is a Temporal
// workflow: a [Timer]; the [Policy] of a business type, and the [PolicyRegistry] of which there
// are; a [Dispatch] and each [DispatchShard] of it; a [Job] on many items, such as a redelivery
// or a bulk change; an [Alert] or an outcome on its way; the readiness [Probe]; word to the
// worker that has preloaded a timer ([Notify]); and an answer on its way to another gateway
// ([AnswerRing]). Emergencies, pages of items and pages of bulk jobs are workflows that nobody
// runs: what they hold is their memo or their input.
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

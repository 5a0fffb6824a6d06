// Package engine is the one adapter to Temporal's client. It starts, signals, cancels, describes
// and lists workflows. It translates between the terms of Temporal and those of the core.
//
// A call that returns without an error has been made durable by Temporal. Its answer is the true
// result: the call follows a change or a cancel until it took effect, until the delivery won the
// race, or until the caller's wait is over.
//
// [Engine] holds one noun of each kind, and each noun is a package. This one only wires them:
//
//   - [Timers]: book, change, cancel, pause, show and list timers. It joins packages timers and
//     bookings.
//   - [timers.Series]: the upcoming and the past occurrences of recurring timers.
//   - [bookings.Failures]: timers that failed for good, to be retried.
//   - [histories.Attempts]: the record of all attempts.
//   - [histories.Histories]: the complete history of a timer, with the author of each entry.
//   - [deliveries.Deliveries]: receivers' later acknowledgements of accepted deliveries.
//   - [dispatches.Dispatches]: call the receiver of a business type for many items, at one rate.
//   - [jobs.Jobs]: work on many items, each job a workflow.
//   - [bulk.Bulk]: the kind of job that applies one change to all timers that match a filter.
//   - [policies.Policies]: the policies of business types, and the back-pressure of receivers.
//   - [testrings.TestRings]: send a test event to the receiver of a business type.
//   - [emergencies.Emergencies]: pause the callbacks of business types, or of all.
//   - [queues.Queues]: the task queues of business types: their rate and their backlog.
//   - [forecasts.Forecasts]: how many timers fall due in each step of the time ahead.
//   - [outcomes.Outcomes]: how timers ended in each minute of the last day.
//   - [ledger.Ledgers]: how punctual timers were, by business type.
//   - [stats.Stats]: counts of timers by status and business type.
//   - [runs.Runs]: answers to a worker about a run that it delivers.
//   - [streams.Streams]: bring answers of connected receivers to their gateways.
//   - [alerts.Alerts]: raise the alerts that no workflow raises.
//   - [failover.Failover]: frees the timers of workers that died.
//   - [processes.Processes]: lists the processes that give signs of life.
//   - [canary.Canary]: books a timer once a minute, and measures it.
//   - [reconcile.Reconciler]: finds timers that Temporal has lost, and wakes them.
//   - [namespace.Namespace]: sets Temporal's namespace up, and reports whether it answers.
//
// The nouns stand on package kernel: one client, one namespace, a bound on each call, and the
// translation of errors. A noun uses another only if it is made with it, and never in a circle.
// The arch test has the whole list. Package query has the grammar of Temporal's visibility, and
// package visibility its words. Tests use package enginetest.
//
// The package stands at the top of the tree because it is a room of the architecture. It
// promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package engine

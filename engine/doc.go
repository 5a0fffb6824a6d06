// Package engine is the one adapter to Temporal's client. It starts, signals,
// cancels, describes and lists workflows, and speaks the words of package
// timer to everybody else.
//
// A call that returns without an error has been made durable by Temporal, and
// its answer is what really happened: a change or a cancel is followed until
// it took effect, until the delivery won the race, or until the caller's wait
// is over.
//
// [Engine] holds one noun of each kind, and each noun is a package. This one only wires them:
//
//   - [Timers]: book, change, cancel, pause, show and list timers. It joins packages timers and
//     bookings.
//   - [timers.Series]: the upcoming and the past occurrences of recurring timers.
//   - [bookings.Failures]: timers that failed for good, to be tried again.
//   - [histories.Attempts]: the record of what was tried.
//   - [histories.Histories]: the whole story of a timer, with who did what.
//   - [deliveries.Deliveries]: what receivers say later of deliveries that they accepted.
//   - [dispatches.Dispatches]: call the receiver of a business type for many items, at one rate.
//   - [jobs.Jobs]: work on many items, by a workflow of its own.
//   - [bulk.Bulk]: the kind of job that does the same with all timers that a filter finds.
//   - [policies.Policies]: the policies of business types, and the back-pressure of receivers.
//   - [emergencies.Emergencies]: pause the callbacks of business types, or of all.
//   - [queues.Queues]: the task queues of business types: their rate and their backlog.
//   - [forecasts.Forecasts]: how many timers fall due in each step of the time ahead.
//   - [stats.Stats]: counts of timers by status and business type.
//   - [runs.Runs]: what a worker asks about a run that it delivers.
//   - [streams.Streams]: bring answers of receivers that connect to their gateways.
//   - [alerts.Alerts]: raise what no workflow raises.
//   - [reconcile.Reconciler]: finds timers that Temporal has lost, and wakes them.
//   - [namespace.Namespace]: sets Temporal's namespace up, and tells whether it answers.
//
// The nouns stand on package kernel: one client, one namespace, a bound on each call, and the
// translation of errors. A noun uses another only if it is made with it, and never in a circle.
// The arch test has the whole list. Package query is the grammar of what is asked of Temporal's
// visibility, and package visibility its words. Tests use package enginetest.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package engine

// Package engine is the one adapter to Temporal's client. It starts, signals,
// cancels, describes and lists workflows, and speaks the words of package
// timer to everybody else.
//
// A call that returns without an error has been made durable by Temporal, and
// its answer is what really happened: a change or a cancel is followed until
// it took effect, until the delivery won the race, or until the caller's wait
// is over.
//
// [Engine] holds one struct for each noun, and the names of the files begin with it:
//
//   - [Timers]: book, change, cancel, show and list timers.
//   - [Stats]: counts timers by status and business type.
//   - [Forecasts]: how many timers fall due in each step of the time ahead; counted in the
//     background, and kept in memory.
//   - [Series]: what recurring timers have beside that: pause, upcoming, occurrences.
//   - [Failures]: timers that failed for good, to be tried again.
//   - [Attempts]: the record of what was tried.
//   - [Histories]: the whole story of a timer, with who did what.
//   - [Policies]: store, read, list and delete the policies of business types, and the
//     back-pressure of their receivers. A cache keeps what was read.
//   - [Queues]: the queues of business types: their rate, and the registry of which
//     there are.
//   - [Runs]: what a worker asks about a run that it delivers.
//   - [Reconciler]: finds timers that Temporal has lost, and wakes them.
//   - [Alerts]: raises what no workflow raises.
//   - [Deliveries]: take what receivers say later of what they accepted.
//   - [Streams]: bring answers of receivers that connect to the gateways that gave the rings.
//   - [Jobs]: work on many items, by a workflow of its own; one for each kind. Redeliveries
//     are one.
//   - [Bulk]: the kind of job that does the same with all timers that a filter finds.
//   - [Dispatches]: call the receiver of a business type for each of many items, at one rate.
//   - [Emergencies]: pause the callbacks of business types, or of all.
//   - [Namespace]: sets Temporal's namespace up, and says whether it answers.
//
// The nouns stand on a kernel: one client, one namespace, a bound on each call, and the
// translation of errors. One noun uses another only as far as it is made with it, and
// never in a circle: policies need none; timers, queues, alerts and
// dispatches need policies; series, failures, attempts, histories and deliveries need timers; the
// reconciler needs timers and queues; forecasts need policies and dispatches; bulk jobs need
// timers.
//
// What is asked of Temporal's visibility is built by package query, and nowhere else.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package engine

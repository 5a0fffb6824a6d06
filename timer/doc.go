// Package timer is the core of Wakecall: the words of the product, and every rule
// that can be decided without a clock, a network or a workflow.
//
// The present moment and a draw of chance are always arguments, so that every rule can
// be tabled and fuzzed. The package imports the standard library and [calendar], which
// says when a rule rings and knows no timer. Many types here are the body of a request,
// the answer to it and the JSON that Temporal stores at once: their stored names never
// change, which the files in testdata/stored hold.
//
// # A map
//
// A booking: a [Key] names the timer, [Terms] are what a client says about it, and
// [Admit] refuses them or makes them a [Spec], the durable truth of one timer (key.go,
// terms.go, spec.go, idempotency.go). It may be due at a [Local] time (wall.go), may be pushed
// out by each PUT ([Debounce], debounce.go), and may have [Labels] (label.go). Its [Memo] is
// the part that can be read without a worker. A [View] is what a reader is shown (view.go).
//
// A change: [Spec.Apply] makes a [Change] or refuses it. A [Refusal] is what remains of
// a change that came too late (change*.go).
//
// A recurring timer: a [Recurrence] is the rule as a client writes it, a [Cursor] how
// far the timer has come, a [Series] where it stands (recurrence*.go).
//
// A policy says how a business type is called back and what it may use: [Policy], with
// its limits, secrets, TLS, back-pressure and alerts, its versions and how they differ
// (policy*.go). It may have a second link, [Fallback] (fallback.go), and may let its receiver
// answer later, [Ack] (ack.go). An [Emergency] pauses the callbacks of a business type, or of
// all, whatever their policies say (emergency.go).
//
// A delivery: a [Delivery] is handed to an attempt, a [Report] is the record of it
// (delivery.go). It goes to a [Destination] (destination.go, callback.go, url.go,
// reach.go). [Judge] turns an [Answer] into a [Verdict] (verdict.go); a
// [Failure] is what remains of one that did not deliver (failure.go). A [Retry] ladder
// says when the next attempt is made (retry.go), a [Preload] how long before the first one
// a worker gets the timer (preload.go). An [Event] is what an alert tells (event.go).
//
// A [Redelivery] tries failed timers again (redelivery.go). [Bulk] does the same with all
// timers that a [Filter] finds (bulk.go, filter.go). Both are jobs (job.go).
//
// A mass job: a [Dispatch] is the order, a [DispatchItem] what one callback is about, a
// [DispatchShard] the part of the items that one worker sends, a [Pace] when each item leaves
// (dispatch*.go).
//
// A look ahead and around: a [Forecast] counts what falls due in each step of the time ahead
// (forecast*.go), [Stats] what there is (stats.go).
//
// What all of them use: a [Field] says what one field of a request may hold (field.go),
// [FieldErrors] say everything that is wrong with a request (fielderror.go), an [Error]
// says why a call could not be done (error.go). [Instant] and [Duration] are written the
// same everywhere. Each limit stands in limits.go, with its reason.
//
// The types that package client names are for importers too; the rest may change with
// every version (docs/decisions/0036-one-promise-to-importers.md).
package timer

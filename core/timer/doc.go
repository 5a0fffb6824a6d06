// Package timer has the rules of one timer, from its booking to its end.
//
// A booking: [Terms] are what a client says about a timer, and [Admit] refuses them or makes
// them a [Spec], the durable truth of one timer. Its [Memo] is the part that can be read
// without a worker. The timer may be due at a [Local] time, may be put off by each PUT
// ([Debounce]), and may have [Labels]. A [View] is what a reader is shown.
//
// A change: [Spec.Apply] makes a [Change] or refuses it. A [Refusal] is what remains of a
// change that came too late.
//
// A recurring timer: a [Series] says where it stands in its rule.
//
// A delivery: a [Delivery] is one occurrence that is handed to an attempt, an [Outcome] how
// the timer ended, an [Event] what an alert says. A [HistoryEntry] is a line of the timer's
// history.
//
// Many timers: a [Filter] selects them, [Stats] count them.
//
// A reader starts with [Admit], and goes on with [Spec.Apply].
package timer

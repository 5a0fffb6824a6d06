// Package timer has the rules of one timer, from its booking to its end.
//
// A booking: [Terms] are a client's request. [Admit] refuses them or turns them into a [Spec],
// the durable state of one timer. Its [Memo] is the part that can be read without a worker. The
// timer may have a [Local] due time and [Labels], and each PUT may postpone it ([Debounce]). A
// [View] is what readers see of it.
//
// A change: [Spec.Apply] applies a [Change] or refuses it. A [Refusal] records a change that
// came too late.
//
// A recurring timer: a [Series] is its position in its rule.
//
// A delivery: a [Delivery] is one occurrence given to an attempt. An [Outcome] is the end of the
// timer, and an [Event] the content of an alert. A [HistoryEntry] is a line of the timer's
// history.
//
// Many timers: a [Filter] selects them, and [Stats] counts them.
//
// A reader starts with [Admit], and goes on with [Spec.Apply].
package timer

// Package timer is the core of Wakecall: the words of the product and every
// rule that can be decided without a clock, a network or a workflow.
//
// A [Booking] is what a client asks for. [Admit] refuses it or turns it into a
// [Spec], the durable truth of one timer. A [Change] moves or edits a Spec. A
// [Policy] says how a business type is called back. [Judge] turns what a
// receiver answered into a [Verdict], and a [Retry] ladder says when to try
// again. A [Recurrence] says when a timer rings again and again.
//
// The package imports the standard library and a parser of cron expressions
// only. The present moment is always an argument, so every rule here can be
// tabled and fuzzed.
package timer

// Package ledger counts how the timers of this process end, and keeps the counts in Temporal.
//
// A [Counter] sees each workflow task that Temporal has recorded, and counts the ends of timers
// and occurrences in it. A task that was refused is not counted, and a task is recorded once.
// Where the answer to a task was lost, the counter asks Temporal how the run ended
// ([Counter.Unanswered]). An end of a type whose policy is not known here counts once that was
// read. [Counter.Run] hands the counts to the ledgers, which are workflows, once a minute. A crash
// loses the counts of a minute at most. [Ledgers] reads them, and adds how many timers are open.
// Items of dispatches are not counted.
//
// A reader starts with [Counter.Completed].
package ledger

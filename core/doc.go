// Package core is the map of the core of Wakecall: the words of the product, and every rule
// that can be decided without a clock, a network or a workflow. It has no code of its own.
//
// The present moment and a draw of chance are always arguments, so that every rule can be
// tabled and fuzzed. The rooms import the standard library and one another. Only
// [github.com/wakecall/wakecall/core/calendar] imports a library, which reads cron
// expressions. Many types are the body of a request, the answer to it and the JSON that
// Temporal stores at once: their stored names never change, which the files in
// testdata/stored hold.
//
// # The rooms
//
// Each room imports only those above it:
//
//   - wire: how moments, durations, keys, fields and errors are written;
//   - calendar: when a cron expression or an interval rings;
//   - recurrence: the rule of a recurring timer, and how far it has come;
//   - delivery: where a callback goes, what an attempt did, and what follows from it;
//   - policy: how a business type is called back, and what it may use;
//   - timer: one timer, from its booking to its end;
//   - dispatch: a mass job, its shards, and when each of its items leaves;
//   - job: work on many timers that a filter finds;
//   - forecast: what falls due in the time ahead;
//   - model: the life of a timer as states, events and decisions, for tests;
//   - problem: what the API answers instead of what it was asked for;
//   - fields: the fields of all request bodies at a glance.
//
// A reader starts with timer.Admit, which makes terms a timer, and with delivery.Judge, which
// makes an answer a verdict.
//
// The types that package client names are for importers too. The rest may change with every
// version (docs/decisions/0036-one-promise-to-importers.md).
package core

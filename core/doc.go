// Package core is the map of the core of Wakecall: the vocabulary of the product, and every rule
// that needs no clock, network or workflow. It has no code.
//
// The present time and random numbers are always arguments, so that every rule can be tabled and
// fuzzed. The rooms import the standard library and one another. Only
// [github.com/wakecall/wakecall/core/calendar] imports a library, which parses cron expressions.
// Many types serve as request, answer and JSON in Temporal at once. Their stored names never
// change, and the files in testdata/stored check that.
//
// # The rooms
//
// Each room imports only those above it:
//
//   - calendar: the moments of a cron expression or an interval;
//   - wire: the form of times, durations, keys, fields and errors;
//   - recurrence: the rule of a recurring timer, and the position in it;
//   - delivery: the destination of a callback, and the consequence of an attempt;
//   - policy: the rules for calling a business type, and its limits;
//   - timer: one timer, from its booking to its end;
//   - dispatch: a mass job, its shards, and the time of each item;
//   - job: work on many timers selected by a filter;
//   - outcomes: how timers ended, minute by minute;
//   - slo: how punctual timers were, beside what their policies promise;
//   - health: what the checks of an installation found;
//   - forecast: the timers that fall due in the time ahead;
//   - model: the life of a timer as states, events and decisions, for tests;
//   - trail: the records of calls that change something;
//   - problem: the API's error document;
//   - fields: the fields of all request bodies together.
//
// A reader starts with timer.Admit, which turns terms into a timer, and with delivery.Judge,
// which judges an answer.
//
// Importers may use the types that package client names. The rest may change with every version
// (docs/decisions/0036-one-promise-to-importers.md).
package core

// Package calendar computes the moments at which a rule rings. It knows no timer: a [Rule] goes
// in, and moments come out, in order.
//
// # What it promises
//
// A rule and a moment alone decide what comes next. Nothing here reads a clock, draws a random
// number or remembers anything beyond one [Schedule]. The same question has the same answer on
// every machine with the same time zones. Zones come from the machine, or else from the copy of
// the IANA database in the program.
//
// Every search ends. [CheckCron] refuses a rule that names no day of any calendar. The search
// for the next moment covers at most 41 years. The rarest rule, a 29th of February that must be
// a Sunday, leaves out 40 years around 2100, no leap year.
//
// Moments are whole milliseconds from 1970 to the end of the year 9999. A cron expression names
// whole seconds.
//
// # Cron expressions
//
// The fields, names, ranges, steps and nicknames are those of Vixie cron, crontab(5). So is the
// rule for the two fields of a day:
//
//   - If neither begins with a star, one match is enough.
//   - Otherwise both must match.
//
// A question mark in a day field is a star. L, L-3, LW, 15W, FRIL and FRI#2 come from Quartz. A
// [Dialect] selects the whole syntax of Quartz or Spring.
//
// # When the clocks change
//
// cron(8) of Debian distinguishes jobs at a time of the day from jobs with a wildcard for the
// hour or minute. This package looks at the hour field alone, since a star in the minute does
// not say which hour is meant.
//
// A rule whose hour field begins with a star follows the clock. It rings at every moment at
// which a wall clock shows a matching time:
//
//   - A skipped time does not ring.
//   - A repeated time rings twice.
//
// Any other hour field names times of the day. Each rings once a day:
//
//   - A skipped time rings at the moment after the skip. Several skipped times ring there once.
//   - A repeated time rings the first time.
//
// A fixed rate counts real time. No change of the clocks moves it.
//
// Exclusions are read in the time zone of the rule. An excluded time of a cron expression does
// not ring, even if the clock skips it. A moment of a fixed rate does not ring if an exclusion
// covers the time on a wall clock at that moment.
package calendar

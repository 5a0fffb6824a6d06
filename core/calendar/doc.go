// Package calendar says at which moments a rule rings. It knows no timer: a
// [Rule] goes in, and moments come out, in order and as often as one asks.
//
// # What it promises
//
// A rule and a moment alone decide what comes next. Nothing here reads a clock,
// draws a number or remembers anything beyond one [Schedule], so the same question
// has the same answer on every machine that has the same time zones. Zones come
// from the machine; where it has none, from the copy of the IANA database that is
// built into the program.
//
// No search runs without end. A rule that names no day of any calendar is refused
// by [CheckCron]. The search for the next moment looks at 41 years at most: the
// rarest rule, a 29th of February that must be a Sunday, leaves out 40 years around
// 2100, which is no leap year.
//
// Moments are whole milliseconds from 1970 to the end of the year 9999. A cron
// expression names whole seconds.
//
// # Cron expressions
//
// The fields, names, ranges, steps, nicknames and the rule for the two fields of a
// day are those of Vixie cron, crontab(5): where neither the day of the month nor
// the day of the week begins with a star, one of them is enough; otherwise both must
// match. A question mark in one of them is a star. L, L-3, LW, 15W, FRIL and FRI#2 are those of
// Quartz, and a [Dialect] reads whole expressions of Quartz or Spring as these do.
//
// # When the clocks change
//
// cron(8) of Debian distinguishes jobs that run at a time of the day from jobs whose
// hour or minute is a wildcard. So does this package, by the hour field alone, since
// a star in the minute says nothing about which hour is meant.
//
// An hour field that begins with a star follows the clock: the rule rings at every
// moment at which a clock on the wall shows a time that it matches. A time that the
// clock jumps over does not ring. A time that the clock shows twice rings twice.
//
// Any other hour field names times of the day, and each of them rings once a day. A
// time that the clock jumps over rings at the moment at which the clock lands;
// several that it jumps over ring there once. A time that the clock shows twice rings
// the first time.
//
// A fixed rate counts real time. No change of the clocks moves it.
//
// Exclusions are read in the time zone of the rule. What a cron
// expression names and an exclusion covers does not ring, also where the clock jumps
// over it. A moment of a fixed rate does not ring if an exclusion covers what a clock on
// the wall shows at that moment.
package calendar

package calendar

import (
	"math/bits"
	"time"
)

const (
	minuteSeconds = 60
	hourSeconds   = 60 * minuteSeconds
	daySeconds    = 24 * hourSeconds
	hoursOfDay    = 24
)

// civil is the time on a wall clock, in seconds since its 1970 began. It belongs to no zone:
// some civil times never come, some come twice.
type civil int64

// civilDay is a date on a wall, in days since 1970-01-01.
type civilDay int64

func (c civil) day() civilDay {
	day := civilDay(c / daySeconds)
	if c%daySeconds < 0 {
		day--
	}
	return day
}

func (d civilDay) start() civil { return civil(d) * daySeconds }

// date holds the calendar's facts about a day.
type date struct {
	month, day int
	weekday    time.Weekday
	// rest is the number of days to the first of the next month.
	rest civilDay
}

func (d civilDay) date() date {
	year, month, day := time.Unix(int64(d.start()), 0).UTC().Date()
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	weekday := time.Weekday(((d+4)%7 + 7) % 7) // 1970 began on a Thursday
	return date{month: int(month), day: day, weekday: weekday, rest: civilDay(last - day + 1)}
}

// set holds small numbers, one bit for each.
type set uint64

// all holds every number that a set can hold.
const all = ^set(0)

// everyMinute holds the minutes of an hour.
const everyMinute = set(1<<60 - 1)

func (s set) has(n int) bool { return s>>uint(n)&1 != 0 }

// from drops the members below n.
func (s set) from(n int) set { return s >> uint(n) << uint(n) }

// least is the lowest member; ok is false when there is none.
func (s set) least() (n int, ok bool) { return bits.TrailingZeros64(uint64(s)), s != 0 }

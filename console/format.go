package console

import (
	"strconv"
	"time"
)

// iso is a time for programs, utc for people, and clock the time of a day.
func iso(t time.Time) string   { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func utc(t time.Time) string   { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// At is a time as short as it is clear: of today without the day.
func (f frame) At(t time.Time) string {
	if t.UTC().Truncate(day).Equal(f.now.UTC().Truncate(day)) {
		return clock(t)
	}
	return utc(t)
}

// Ago is how far a time is from now, in one unit: "in 4 min", "2 h ago".
func (f frame) Ago(t time.Time) string {
	distance := t.Sub(f.now)
	if distance < 0 {
		return f.T("time.ago", f.Span(-distance))
	}
	return f.T("time.in", f.Span(distance))
}

// Span is a duration in one unit, rounded down.
func (f frame) Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return f.T("time.ms", int(d.Milliseconds()))
	case d < 2*time.Minute:
		return f.T("time.s", int(d.Seconds()))
	case d < 2*time.Hour:
		return f.T("time.min", int(d.Minutes()))
	case d < 2*day:
		return f.T("time.h", int(d.Hours()))
	default:
		return f.T("time.d", int(d/day))
	}
}

// rate is a number a second, without needless digits.
func rate(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', -1, 64) }

// Num is a number with its thousands apart.
func (f frame) Num(n int) string {
	if n < 0 {
		return "-" + f.Num(-n)
	}
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Short is a number in at most four places.
func (f frame) Short(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n/1_000_000) + "M"
	}
}

package wire

import (
	"math"
	"regexp"
	"strconv"
	"time"
)

// wallTime is a time without an offset, with or without its seconds.
var wallTime = regexp.MustCompile(`^"?\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?"?$`)

// InstantRefusal says what is wrong with a value, in JSON or as it is, that is no [Instant], and
// what to send in its place. Numbers are often Unix time: one of 12 digits and more is taken to
// be in milliseconds.
func InstantRefusal(raw string) string {
	if len(raw) > maxTimeText {
		return InstantForm
	}
	if wallTime.MatchString(raw) {
		return InstantForm + "; a time without an offset goes into due_local, with a timezone"
	}
	text, err := strconv.Unquote(raw)
	if err != nil {
		text = raw
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number >= 1) {
		return InstantForm
	}
	if number < 1e11 {
		number *= 1000
	}
	if at := Instant(math.Round(number)); number < 1e15 && at.Time().Year() <= 9999 {
		return `must be an RFC 3339 time; for this number send "` + at.Time().Format(time.RFC3339Nano) + `"`
	}
	return InstantForm
}

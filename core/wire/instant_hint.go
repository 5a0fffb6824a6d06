package wire

import (
	"math"
	"regexp"
	"strconv"
	"time"
)

// wallTime is a time without an offset, with or without its seconds.
var wallTime = regexp.MustCompile(`^"?\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?"?$`)

// InstantRefusal explains why a value, as JSON or bare text, is no [Instant], and suggests one.
// It takes a number for Unix time, of 12 digits or more in milliseconds.
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

package timer

import (
	"errors"
	"strings"
	"time"
)

// Duration is a length of time, on the wire a Go-style string such as "90s",
// "30m" or "72h".
type Duration time.Duration

// DurationForm tells a caller how a Duration is written.
const DurationForm = "must be a duration such as 90s, 30m or 72h"

var errDuration = errors.New(DurationForm)

// D is the standard library's form.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string {
	s := d.D().String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes the shortest Go-style form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a Go-style duration; its sign is judged elsewhere.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return errDuration
	}
	*d = Duration(parsed)
	return nil
}

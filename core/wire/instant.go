package wire

import (
	"bytes"
	"errors"
	"regexp"
	"time"
)

// Instant is a moment in Unix milliseconds. Zero means "not set".
//
// On the wire it is RFC 3339 in UTC with exactly three decimals.
type Instant int64

const instantLayout = "2006-01-02T15:04:05.000Z"

// InstantForm describes the form of an Instant to a caller.
const InstantForm = "must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z"

var errInstant = errors.New(InstantForm)

// At returns the first whole millisecond not before t. Rounding up keeps a timer from ringing a
// fraction early.
func At(t time.Time) Instant {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return Instant(ms)
}

// Time returns the instant as a UTC time.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// IsZero reports whether the instant is not set.
func (i Instant) IsZero() bool { return i == 0 }

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return At(i.Time().Add(d)) }

// Until returns the time left from now to the instant; negative if it has passed.
func (i Instant) Until(now time.Time) time.Duration { return i.Time().Sub(now) }

func (i Instant) String() string { return i.Time().Format(instantLayout) }

// MarshalText writes RFC 3339 with milliseconds.
func (i Instant) MarshalText() ([]byte, error) {
	return i.AppendText(make([]byte, 0, len(instantLayout)+len("000000"))) // AppendFormat writes the nanoseconds, and cuts them
}

// AppendText implements encoding.TextAppender.
func (i Instant) AppendText(to []byte) ([]byte, error) {
	return i.Time().AppendFormat(to, instantLayout), nil
}

// strict is the form of RFC 3339. The standard library accepts more, such as an hour of one
// digit (golang/go#54580) and an offset of 24 hours or 60 minutes.
var strict = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// maxTimeText is longer than any sensible time, in bytes.
const maxTimeText = 64

// UnmarshalText reads any RFC 3339 time of the years 1970 to 9999. Its letters may be lower case
// (RFC 3339, section 5.6).
func (i *Instant) UnmarshalText(text []byte) error {
	if len(text) > maxTimeText {
		return errInstant
	}
	text = bytes.ToUpper(text)
	t, err := time.Parse(time.RFC3339Nano, string(text))
	at := At(t)
	if err != nil || !strict.Match(text) || at <= 0 || at.Time().Year() > 9999 {
		return errInstant
	}
	*i = at
	return nil
}

// TooFarAhead is the error of a time beyond [MaxAhead].
var TooFarAhead = "must not be more than " + Duration(MaxAhead).String() + " ahead"

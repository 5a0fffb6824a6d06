package wire

import (
	"bytes"
	"errors"
	"regexp"
	"time"

	"github.com/wakecall/wakecall/core/calendar"
)

// Wall is the time on a wall clock, in milliseconds since its 1970 began. It becomes a moment
// only in a time zone. Zero means "not set".
//
// On the wire it is RFC 3339 without an offset; seconds of zero are left out.
type Wall int64

// WallForm describes the form of a Wall to a caller.
const WallForm = "must be a local time such as 2027-01-31T09:00, without an offset"
const (
	wallMinutes = "2006-01-02T15:04"
	wallSeconds = wallMinutes + ":05"
	wallMillis  = wallSeconds + ".000"
)

var (
	errWall    = errors.New(WallForm)
	strictWall = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$`)
)

// In returns the moment at which a clock in the time zone shows w; see [calendar.Local].
func (w Wall) In(timezone string) (Instant, error) {
	at, err := calendar.Local(Instant(w).Time(), timezone)
	return At(at), err
}

func (w Wall) String() string {
	layout := wallMinutes
	switch {
	case w%1000 != 0:
		layout = wallMillis
	case w%60_000 != 0:
		layout = wallSeconds
	}
	return Instant(w).Time().Format(layout)
}

// MarshalText writes the shortest form.
func (w Wall) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a local time of the years 1970 to 9999, to the millisecond. Its T may be
// lower case.
func (w *Wall) UnmarshalText(text []byte) error {
	if len(text) > maxTimeText {
		return errWall
	}
	text = bytes.ToUpper(text)
	layout := wallSeconds
	if len(text) == len(wallMinutes) {
		layout = wallMinutes
	}
	t, err := time.Parse(layout, string(text))
	if err != nil || !strictWall.Match(text) || t.UnixMilli() <= 0 {
		return errWall
	}
	*w = Wall(t.UnixMilli())
	return nil
}

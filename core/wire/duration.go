package wire

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"time"
)

// Duration is a span of time. Its text has the form of Go: "30m", "72h", "0s". It also accepts
// days and weeks, "3d" and "2w", and the form of ISO 8601, "P1DT12H". A day is 24 hours.
type Duration time.Duration

// DurationForm describes the form of a Duration to a caller.
const DurationForm = "must be a duration such as 90s, 30m, 72h, 3d or PT30M"

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

// UnmarshalText reads a duration. It accepts negative ones.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := parseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// The forms that Go's parser does not know. The years and months of ISO 8601 are refused, because
// their length varies.
var (
	inDays = regexp.MustCompile(`^([+-]?)(?:(\d{1,4})w)?(?:(\d{1,5})d)?((?:\d.*)?)$`)
	inISO  = regexp.MustCompile(`^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?((?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?)$`)
)

const day = 24 * time.Hour

func parseDuration(text string) (Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return Duration(d), nil
	}
	parts, ofDay := inDays.FindStringSubmatch(text), ""
	if parts == nil {
		if parts = inISO.FindStringSubmatch(text); parts == nil || strings.HasSuffix(text, "T") || strings.HasSuffix(text, "P") {
			return 0, errDuration
		}
		ofDay = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(parts[4], "T"), ",", "."))
	} else {
		ofDay = parts[4]
	}
	return sumDuration(parts[1] == "-", parts[2:4], ofDay)
}

// sumDuration adds weeks and days to the rest of a duration, in Go's form.
func sumDuration(negative bool, weeksAndDays []string, ofDay string) (Duration, error) {
	if strings.Join(weeksAndDays, "")+ofDay == "" {
		return 0, errDuration
	}
	days := 7*digits(weeksAndDays[0]) + digits(weeksAndDays[1])
	if time.Duration(days) > math.MaxInt64/day {
		return 0, errDuration
	}
	sum := day * time.Duration(days)
	if ofDay != "" {
		rest, err := time.ParseDuration(ofDay)
		if err != nil || sum+rest < sum {
			return 0, errDuration
		}
		sum += rest
	}
	if negative {
		sum = -sum
	}
	return Duration(sum), nil
}

// digits returns the value of a few digits, and 0 for none.
func digits(text string) (n int) {
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

package wire

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// Duration is a span of time. On the wire it is text of Go's kind: "30m", "72h", "0s". It is
// read in days and weeks as well, "3d" and "2w", and in the form of ISO 8601, "P1DT12H". A day
// is 24 hours.
type Duration time.Duration

// DurationForm tells a caller how a Duration is written.
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

// UnmarshalText reads a duration; its sign is judged elsewhere.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := parseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// The forms that Go's parser does not know. The days and weeks have few enough digits for
// nothing to overflow. ISO 8601 has years and months as well, whose length nobody can say.
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

// sumDuration adds weeks and days to what is less than them, in Go's form.
func sumDuration(negative bool, weeksAndDays []string, ofDay string) (Duration, error) {
	if strings.Join(weeksAndDays, "")+ofDay == "" {
		return 0, errDuration
	}
	sum := 7*day*time.Duration(digits(weeksAndDays[0])) + day*time.Duration(digits(weeksAndDays[1]))
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

// digits is the value of digits, few enough for an int; that of none is 0.
func digits(text string) (n int) {
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

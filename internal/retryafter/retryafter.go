// Package retryafter parses the Retry-After header of HTTP servers. Workers' callbacks and the
// Go client use it.
package retryafter

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse reads a Retry-After header (RFC 9110, section 10.2.3), in seconds of any number of
// digits or as one of the three forms of a date. It caps the result at most. It returns 0 for
// anything else.
func Parse(header string, now time.Time, most time.Duration) time.Duration {
	header = strings.TrimSpace(header)
	if strings.Trim(header, "0123456789") == "" && header != "" {
		seconds, err := strconv.ParseUint(header, 10, 64)
		if err != nil || seconds > uint64(most/time.Second) { // more digits than 64 bits hold
			return most
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), most)
}

package client

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"time"
)

const (
	// firstPause is the wait before the second try; each following wait is twice as long.
	firstPause = 200 * time.Millisecond
	// longestPause caps the wait that an answer asks for.
	longestPause = 30 * time.Second
)

// mostDoublings is how often firstPause doubles until it exceeds the longest one. It keeps the
// shift from overflowing after many tries.
var mostDoublings = bits.Len64(uint64(longestPause / firstPause))

// pause returns the wait before the next try: the answer's, or else a time that doubles with
// each try, less up to half of it at random.
func pause(try int, err error) time.Duration {
	if problem, ok := errors.AsType[*Problem](err); ok && problem.RetryAfter > 0 {
		return min(problem.RetryAfter, longestPause)
	}
	grown := min(firstPause<<min(try-1, mostDoublings), longestPause)
	return grown - rand.N(grown/2)
}

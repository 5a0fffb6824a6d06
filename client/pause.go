package client

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"time"
)

const (
	// firstPause is the time before the second try; each next one is twice as long.
	firstPause = 200 * time.Millisecond
	// longestPause bounds what an answer may ask for.
	longestPause = 30 * time.Second
)

// mostDoublings is how often firstPause doubles until it is past the longest one. A try
// that has failed for long would shift it out of its bits.
var mostDoublings = bits.Len64(uint64(longestPause / firstPause))

// pause is the time between a try and the next one: what the answer asks for, or else a
// time that doubles with each try, less up to a half of it at random.
func pause(try int, err error) time.Duration {
	if problem, ok := errors.AsType[*Problem](err); ok && problem.RetryAfter > 0 {
		return min(problem.RetryAfter, longestPause)
	}
	grown := min(firstPause<<min(try-1, mostDoublings), longestPause)
	return grown - rand.N(grown/2)
}

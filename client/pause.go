package client

import (
	"errors"
	"math/rand/v2"
	"time"
)

const (
	// firstPause is the time before the second try; each next one is twice as long.
	firstPause = 200 * time.Millisecond
	// longestPause bounds what an answer may ask for.
	longestPause = 30 * time.Second
)

// pause is the time between a try and the next one: what the answer asks for, or else a
// time that doubles with each try, less up to a half of it at random.
func pause(try int, err error) time.Duration {
	if problem, ok := errors.AsType[*Problem](err); ok && problem.RetryAfter > 0 {
		return min(problem.RetryAfter, longestPause)
	}
	grown := min(firstPause<<(try-1), longestPause)
	return grown - rand.N(grown/2)
}

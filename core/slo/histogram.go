package slo

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// Histogram counts latenesses in milliseconds, by bucket. Buckets below 32 ms hold one
// value each. Above, each power of two has 16 buckets, so that a bucket is at most 6.25 % wide.
type Histogram map[int]int64

// subBits is the binary logarithm of the buckets in a power of two.
const subBits = 4

// bucketOf is the bucket of a lateness. A timer that rings early counts as punctual.
func bucketOf(ms int64) int {
	ms = max(ms, 0)
	shift := max(bits.Len64(uint64(ms))-subBits-1, 0) //nolint:gosec // it is positive
	return shift<<subBits + int(ms>>shift)
}

// upperBound is the greatest lateness in a bucket, in milliseconds.
func upperBound(bucket int) int64 {
	shift := max(bucket>>subBits-1, 0)
	return (int64(bucket-shift<<subBits)+1)<<shift - 1
}

// Observe counts one lateness.
func (h Histogram) Observe(ms int64) { h[bucketOf(ms)]++ }

// Add adds the counts of another histogram.
func (h Histogram) Add(other Histogram) {
	for bucket, n := range other {
		h[bucket] += n
	}
}

// Total is how many latenesses were counted.
func (h Histogram) Total() (n int64) {
	for _, count := range h {
		n += count
	}
	return n
}

// Quantile is the least lateness, in milliseconds, that a share q of the observations does not
// exceed, rounded up to the end of its bucket. ok is false for an empty histogram.
func (h Histogram) Quantile(q float64) (ms int64, ok bool) {
	rank := max(int64(math.Ceil(q*float64(h.Total()))), 1)
	for _, bucket := range slices.Sorted(maps.Keys(h)) {
		if rank -= h[bucket]; rank <= 0 {
			return upperBound(bucket), true
		}
	}
	return 0, false
}

package dispatch

import (
	"math"
	"time"
)

// Pace spaces the items of a dispatch evenly over any number of shards. It numbers the moments
// at which an item is sent. Shard n of m takes the numbers n, n+m, n+2m. So the shards need not
// communicate, and their sum is flat.
type Pace struct {
	// Began is the moment from which moments are counted and the rate rises.
	Began  time.Time
	WarmUp time.Duration
	// PerSecond is the rate of all shards together, above 0.
	PerSecond float64
	// Shard is the index of the shard among the Shards that send, from 0.
	Shard, Shards int
}

// Moment returns the k-th moment of the shard, from 0.
func (p Pace) Moment(k int64) time.Time {
	n := float64(k)*float64(p.Shards) + float64(p.Shard)
	warm := p.WarmUp.Seconds()
	rising := p.PerSecond * warm / 2 // items of the warm-up
	var seconds float64
	if n < rising {
		seconds = math.Sqrt(2 * n * warm / p.PerSecond)
	} else {
		seconds = warm + (n-rising)/p.PerSecond
	}
	return p.Began.Add(time.Duration(seconds * float64(time.Second)))
}

// From returns the first moment not before t.
func (p Pace) From(t time.Time) (k int64) {
	seconds, warm := max(t.Sub(p.Began).Seconds(), 0), p.WarmUp.Seconds()
	var n float64
	if seconds < warm {
		n = p.PerSecond * seconds * seconds / (2 * warm)
	} else {
		n = p.PerSecond * (seconds - warm/2)
	}
	k = max(int64(math.Floor((n-float64(p.Shard))/float64(p.Shards)))-1, 0)
	for p.Moment(k).Before(t) {
		k++
	}
	return k
}

package dispatch

import (
	"math"
	"time"
)

// Pace spaces the items of a dispatch evenly, however many shards send them: the moments
// at which an item is sent are numbered, and shard n of m takes the numbers n, n+m, n+2m.
// So the shards need not speak with one another, and the sum of them is flat.
type Pace struct {
	// Began is the moment from which they are counted, and from which the rate rises.
	Began  time.Time
	WarmUp time.Duration
	// PerSecond is of all shards together, and above 0.
	PerSecond float64
	// Shard is the place of the shard among the Shards that send, from 0.
	Shard, Shards int
}

// Moment is the k-th moment of the shard, from 0.
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

// From is the first moment that is not before t.
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

package pace

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
)

// window is the window for counting a rate.
const window = 10 * time.Second

// arrivals are the times of calls, in order.
func arrivals(calls []receiver.Call) (times []time.Time) {
	for _, call := range calls {
		times = append(times, call.At)
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// busiest is the largest number of arrivals in any window.
func busiest(times []time.Time) (most int) {
	first := 0
	for last, at := range times {
		for at.Sub(times[first]) >= window {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}

// transit is how long a busy machine may hold up a call between Temporal and the receiver,
// so that it arrives with later ones.
const transit = time.Second

// allowed is the most that a limit lets arrive in a span: 1.05 times the rate, and one
// burst; part of a call is one.
func allowed(rate float64, span time.Duration) int {
	burst := math.Max(1, math.Ceil(rate))
	return int(math.Ceil(1.05*rate*(span+transit).Seconds() + burst))
}

// exceeds describes how a limit was broken, in any window or over the whole time.
func exceeds(times []time.Time, rate float64) string {
	if most := busiest(times); most > allowed(rate, window) {
		return fmt.Sprintf("%d calls in %s, %d are allowed: %v", most, window, allowed(rate, window), eachSecond(times))
	}
	if span := times[len(times)-1].Sub(times[0]); len(times) > allowed(rate, span) {
		return fmt.Sprintf("%d calls in %s, %d are allowed: %v", len(times), span, allowed(rate, span), eachSecond(times))
	}
	return ""
}

// idles describes where a limit was not used up: with a backlog, calls arrive at 0.9 of the
// rate at least. It leaves out the first and the last tenth, in which the backlog is still
// being booked, or over.
func idles(times []time.Time, rate float64) string {
	steady := times[len(times)/10 : len(times)*9/10]
	took := steady[len(steady)-1].Sub(steady[0]).Seconds()
	if float64(len(steady)-1)/took < 0.9*rate {
		return fmt.Sprintf("%d calls took %.1f s: %v", len(steady), took, eachSecond(times))
	}
	return ""
}

// eachSecond counts the arrivals in each second, for failure messages.
func eachSecond(times []time.Time) (counts []int) {
	for _, at := range times {
		second := int(at.Sub(times[0]) / time.Second)
		for len(counts) <= second {
			counts = append(counts, 0)
		}
		counts[second]++
	}
	return counts
}

func TestTheOracleNotices(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	evenly := func(n int, gap time.Duration) (times []time.Time) {
		for i := range n {
			times = append(times, start.Add(time.Duration(i)*gap))
		}
		return times
	}
	exact, fast, slow := evenly(400, 50*time.Millisecond), evenly(400, 40*time.Millisecond), evenly(400, 60*time.Millisecond)
	twoBursts := slices.Concat(evenly(60, time.Millisecond), exact)
	require.Empty(t, exceeds(exact, 20))
	require.Empty(t, idles(exact, 20))
	require.Contains(t, exceeds(fast, 20), "allowed")
	require.Contains(t, exceeds(twoBursts, 20), "in 10s")
	require.Contains(t, idles(slow, 20), "took")
	require.Empty(t, exceeds(evenly(10, 2*time.Second), 0.5))
	require.Contains(t, exceeds(evenly(10, time.Second), 0.5), "allowed")
}

package outcomes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// kept is how many minutes are kept of a type: a request for [outcomes.Longest] begins within one. stretch is how
// many are counted at once.
const (
	kept    = int64((outcomes.Longest + outcomes.MinStep) / time.Minute)
	stretch = int64(time.Hour / time.Minute)
)

// typeCounts holds the counts of one business type.
type typeCounts struct {
	businessType string
	asked        time.Time // guarded by [Outcomes.mu]
	// life ends by drop, once another type needs the room. The count under way ends with it.
	life context.Context
	drop context.CancelFunc

	mu        sync.Mutex
	minutes   [kept]minute
	countedAt wire.Instant
	// counting is closed at the end of the count under way, and awaited once a request waits for it.
	counting, awaited chan struct{}

	again time.Time
	// back is when earlier hours may be counted again, and reach how many of their minutes. It grows while
	// they have no end.
	back  time.Time
	reach int64
	err   error // of the last count
}

// minute is what is known of one minute. Its place is its number modulo those that are kept.
type minute struct {
	number int64 // of the minute, since 1970; another one in this place is not known
	counts outcomes.Counts
	// final reports whether it is never counted again.
	final bool
}

func numberOf(at wire.Instant) int64 { return int64(at) / time.Minute.Milliseconds() }

func instantOf(number int64) wire.Instant { return wire.Instant(number * time.Minute.Milliseconds()) }

// span is some consecutive minutes, by their numbers. end is the one after the last.
type span struct{ first, end int64 }

func (s span) from() wire.Instant { return instantOf(s.first) }
func (s span) to() wire.Instant   { return instantOf(s.end) }

// at is the place of a minute; nil if it is not known.
func (c *typeCounts) at(number int64) *minute {
	if m := &c.minutes[number%kept]; m.number == number {
		return m
	}
	return nil
}

// open returns the minutes to count. The first part are the last minutes, which may have changed. The second part
// is an hour or more of earlier minutes that were never counted, once the first part is short.
func (c *typeCounts) open(now time.Time) (parts []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current := numberOf(wire.At(now))
	last := span{current, current + 1}
	for oldest := current - kept + 1; last.first > oldest && last.end-last.first < stretch && !c.isFinal(last.first-1); {
		last.first--
	}
	if now.Before(c.back) {
		return []span{last}
	}
	older, reach := span{last.first, last.first}, max(c.reach, stretch)
	for oldest := current - kept + 1; older.first > oldest && older.end-older.first < reach; older.first-- {
		if c.isFinal(older.first - 1) {
			if older.first < older.end {
				break
			}
			older.end--
		}
	}
	parts = append(parts, last)
	if older.first < older.end {
		parts = append(parts, older)
	}
	return parts
}

func (c *typeCounts) isFinal(number int64) bool {
	m := c.at(number)
	return m != nil && m.final
}

// put stores a count that began then. Visibility lags behind, so a minute is final once it was
// counted a while after its end.
func (c *typeCounts) put(part span, counted []outcomes.Counts, began wire.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, counts := range counted {
		number := part.first + int64(i)
		final := instantOf(number+1).Add(tuning.OutcomesSettled) <= began
		c.minutes[number%kept] = minute{number: number, counts: counts, final: final}
	}
	c.countedAt = max(c.countedAt, began)
}

// wentBack records a count of earlier hours. If they had no end, the next count reaches further.
func (c *typeCounts) wentBack(counted []outcomes.Counts, err error, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.back = time.Now().Add(rest)
	c.reach = max(c.reach, stretch) * 2
	if err != nil || slices.ContainsFunc(counted, func(one outcomes.Counts) bool { return one != outcomes.Counts{} }) {
		c.reach = stretch
	}
}

// end ends a count. The next one waits for a rest.
func (c *typeCounts) end(err error, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.again = err, time.Now().Add(max(tuning.OutcomesFresh, rest))
	close(c.counting)
	c.counting = nil
}

// await waits for the count under way if nothing is known, as long as a call may take.
func (c *typeCounts) await(ctx context.Context) error {
	if counting := c.hurryCount(); counting != nil {
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		select {
		case <-counting:
		case <-ctx.Done():
			return kernel.Translate(ctx.Err())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.countedAt == 0 {
		return c.err
	}
	return nil
}

// hurryCount gives the count under way precedence if nothing is known. The channel is closed at its end; nil if
// there is none to wait for.
func (c *typeCounts) hurryCount() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.countedAt != 0 || c.counting == nil {
		return nil
	}
	select {
	case <-c.awaited:
	default:
		close(c.awaited)
	}
	return c.counting
}

// between are the known minutes of a time.
func (c *typeCounts) between(span outcomes.Span) (known []outcomes.Minute, countedAt wire.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number := numberOf(span.From); instantOf(number) < span.To; number++ {
		if m := c.at(number); m != nil {
			known = append(known, outcomes.Minute{At: instantOf(number), Counts: m.counts})
		}
	}
	return known, c.countedAt
}

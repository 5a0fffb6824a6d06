package calendar

import "time"

// Schedule lists the moments of a rule. It remembers where it looked last, so one
// goroutine at a time may ask it.
type Schedule struct {
	series
	*search
	from, to millis
}

// millis is a moment in Unix milliseconds.
type millis int64

// millisOf is the first whole millisecond that is not before t.
func millisOf(t time.Time) millis {
	ms := millis(t.UnixMilli())
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

func (m millis) time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MaxCounted is how far [Schedule.Passed] counts, since counting takes time: a
// hundred thousand moments are counted in well under a second.
const MaxCounted = 100_000

// Next is the first moment that is not before from; ok is false when there is none.
func (s *Schedule) Next(from time.Time) (at time.Time, ok bool) {
	next, ok := s.next(millisOf(from))
	return next.time(), ok
}

// Upcoming are the first moments of the schedule, so many at most.
func (s *Schedule) Upcoming(count int) (moments []time.Time) {
	for from := s.from; len(moments) < count; {
		at, ok := s.next(from)
		if !ok {
			break
		}
		moments, from = append(moments, at.time()), at+1
	}
	return moments
}

// Passed counts the moments of the schedule up to now, to [MaxCounted]. It names the
// oldest of the last keep of them, or the first moment where there are no more than
// keep; where none has passed, oldest is zero. keep is at least 1.
func (s *Schedule) Passed(now time.Time, keep int) (oldest time.Time, count int) {
	first, ok := s.next(s.from)
	to := millisOf(now)
	if !ok || first > to {
		return time.Time{}, 0
	}
	if count = s.count(first, to); count > keep {
		return s.newest(first, to, keep).time(), count
	}
	return first.time(), count
}

func (s *Schedule) next(from millis) (millis, bool) {
	if !s.step() {
		return 0, false
	}
	at, ok := s.series.next(max(from, s.from))
	// Where the steps ran out, one of several expressions may have an earlier moment.
	return at, ok && at <= s.to && !s.spent()
}

// count is the number of moments in [from, to], up to MaxCounted.
func (s *Schedule) count(from, to millis) (n int) {
	for n < MaxCounted {
		at, ok := s.next(from)
		if !ok || at > to {
			break
		}
		n, from = n+1, at+1
	}
	return n
}

// newest is the oldest of the n newest moments in [first, to], of which first is
// one. It looks at ever longer stretches before to, and so reads few moments more than
// it keeps.
func (s *Schedule) newest(first, to millis, n int) millis {
	for stretch := millis(n) * 1000; to-stretch > first; stretch *= 2 {
		if kept := s.lastOf(to-stretch, to, n); len(kept) == n {
			return kept[0]
		}
	}
	return s.lastOf(first, to, n)[0]
}

// lastOf are the last n moments in [from, to], or fewer.
func (s *Schedule) lastOf(from, to millis, n int) (kept []millis) {
	for {
		at, ok := s.next(from)
		if !ok || at > to {
			return kept
		}
		if len(kept) == n {
			kept = append(kept[:0], kept[1:]...)
		}
		kept, from = append(kept, at), at+1
	}
}

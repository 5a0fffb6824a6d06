package calendar

import "time"

// Schedule lists the moments of a rule. It remembers its last position, so only one goroutine at
// a time may use it.
type Schedule struct {
	series
	*search
	from, to millis
}

// millis is a moment in Unix milliseconds.
type millis int64

// millisOf returns the first whole millisecond not before t.
func millisOf(t time.Time) millis {
	ms := millis(t.UnixMilli())
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

func (m millis) time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MaxCounted bounds the count of [Schedule.Passed]. A hundred thousand moments take well under a
// second.
const MaxCounted = 100_000

// Next returns the first moment not before from; ok is false if there is none.
func (s *Schedule) Next(from time.Time) (at time.Time, ok bool) {
	next, ok := s.next(millisOf(from))
	return next.time(), ok
}

// Upcoming returns the first count moments of the schedule, or fewer.
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

// Passed counts the moments of the schedule up to now, at most [MaxCounted]. It returns the
// oldest of the last keep of them, or the first moment if there are at most keep. If none has
// passed, oldest is zero. keep is at least 1.
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
	// After the last step, one of several expressions may have an earlier moment.
	return at, ok && at <= s.to && !s.spent()
}

// count returns the number of moments in [from, to], at most MaxCounted.
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

// newest returns the oldest of the n newest moments in [first, to]. first is a moment. The
// search doubles the stretch before to, and so reads few extra moments.
func (s *Schedule) newest(first, to millis, n int) millis {
	for stretch := millis(n) * 1000; to-stretch > first; stretch *= 2 {
		if kept := s.lastOf(to-stretch, to, n); len(kept) == n {
			return kept[0]
		}
	}
	return s.lastOf(first, to, n)[0]
}

// lastOf returns the last n moments in [from, to], or fewer.
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

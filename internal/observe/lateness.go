package observe

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Lateness holds what this process knows of its attempts, minute by minute, for a day. It takes
// 14 MB at most. It is safe for concurrent use.
type Lateness struct {
	now    func() time.Time
	began  wire.Instant
	bounds []float64 // of the buckets, in seconds

	mu    sync.Mutex
	types map[string]*typeAttempts
}

// typeAttempts has the hours in which attempts of a business type were made.
type typeAttempts struct {
	hours [tuning.LatenessHours]*attemptsHour
	last  int64 // the last hour, since 1970
}

type attemptsHour struct {
	number  int64 // of the hour, since 1970
	minutes [minutesOfHour]attemptsMinute
}

// attemptsMinute has one count more than there are bounds. A count that is full stays so: it
// takes a thousand rings a second.
type attemptsMinute struct {
	buckets  [latenessBuckets]uint16
	worstMS  uint32
	attempts uint32
	retried  uint32
}

const (
	minutesOfHour   = 60
	latenessBuckets = 17
)

// NewLateness returns a ring with buckets that end at bounds, in seconds, at most 16.
func NewLateness(bounds []float64, now func() time.Time) *Lateness {
	return &Lateness{now: now, began: wire.At(now()), bounds: bounds[:min(len(bounds), latenessBuckets-1)], types: map[string]*typeAttempts{}}
}

// Attempted records one attempt. Its lateness is nil unless it was the first of its delivery.
// retried reports whether it failed and is repeated.
func (l *Lateness) Attempted(businessType string, latenessMS *int64, retried bool) {
	number := l.now().Unix() / secondsOfMinute
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := l.entryFor(businessType, number/minutesOfHour)
	if entry == nil {
		return
	}
	m := entry.minute(number)
	m.attempts++
	if retried {
		m.retried++
	}
	if latenessMS == nil {
		return
	}
	late := max(*latenessMS, 0)
	if n := &m.buckets[l.bucketOf(late)]; *n < math.MaxUint16 {
		*n++
	}
	m.worstMS = max(m.worstMS, uint32(min(late, math.MaxUint32))) //nolint:gosec // it is bounded
}

const secondsOfMinute = 60

func (l *Lateness) bucketOf(ms int64) int {
	seconds := float64(ms) / 1000
	for i, bound := range l.bounds {
		if seconds <= bound {
			return i
		}
	}
	return len(l.bounds)
}

// entryFor returns the attempts of a business type. Of too many types, one without an attempt in
// the last day goes; it returns nil if there is none.
func (l *Lateness) entryFor(businessType string, hour int64) *typeAttempts {
	entry := l.types[businessType]
	if entry == nil {
		if len(l.types) >= tuning.LatenessTypes && !l.dropIdle(hour) {
			return nil
		}
		entry = &typeAttempts{}
		l.types[businessType] = entry
	}
	entry.last = hour
	return entry
}

func (l *Lateness) dropIdle(hour int64) bool {
	for businessType, entry := range l.types {
		if hour-entry.last >= tuning.LatenessHours {
			delete(l.types, businessType)
			return true
		}
	}
	return false
}

// minute is the place of a minute, in an hour that is made if need be.
func (a *typeAttempts) minute(number int64) *attemptsMinute {
	hour := number / minutesOfHour
	place := &a.hours[hour%tuning.LatenessHours]
	if *place == nil || (*place).number != hour {
		*place = &attemptsHour{number: hour}
	}
	return &(*place).minutes[number%minutesOfHour]
}

// known is a minute; nil if there was no attempt in its hour.
func (a *typeAttempts) known(number int64) *attemptsMinute {
	hour := number / minutesOfHour
	if h := a.hours[hour%tuning.LatenessHours]; h != nil && h.number == hour {
		return &h.minutes[number%minutesOfHour]
	}
	return nil
}

// Between sums up the attempts of some business types, or of all for nil, in steps of whole
// minutes. A step of which nothing can be known is left out: it ended before the process began, or is too old.
func (l *Lateness) Between(types []string, span outcomes.Span) (known []outcomes.Lateness) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if types == nil {
		types = slices.Collect(maps.Keys(l.types))
	}
	since := max(l.began, wire.At(l.now().Truncate(time.Hour).Add(-(tuning.LatenessHours-1)*time.Hour)))
	for at := span.From; at < span.To; at = at.Add(span.Step) {
		if at.Add(span.Step) <= since {
			continue
		}
		sum := attemptsSum{buckets: make([]uint64, len(l.bounds)+1)}
		for number := minuteOf(at); number < minuteOf(at.Add(span.Step)); number++ {
			for _, businessType := range types {
				if entry := l.types[businessType]; entry != nil {
					sum.add(entry.known(number))
				}
			}
		}
		known = append(known, sum.lateness(at, l.bounds))
	}
	return known
}

func minuteOf(at wire.Instant) int64 { return at.Time().Unix() / secondsOfMinute }

// attemptsSum is the sum of some minutes.
type attemptsSum struct {
	buckets                    []uint64
	worstMS, attempts, retried int64
}

func (s *attemptsSum) add(m *attemptsMinute) {
	if m == nil {
		return
	}
	for i := range s.buckets {
		s.buckets[i] += uint64(m.buckets[i])
	}
	s.worstMS = max(s.worstMS, int64(m.worstMS))
	s.attempts += int64(m.attempts)
	s.retried += int64(m.retried)
}

func (s *attemptsSum) lateness(at wire.Instant, bounds []float64) outcomes.Lateness {
	shown := outcomes.Lateness{At: at, Attempts: s.attempts, Retried: s.retried}
	worst := float64(s.worstMS)
	for q, to := range map[float64]**float64{0.5: &shown.P50MS, 0.99: &shown.P99MS} {
		if seconds, ok := outcomes.Quantile(q, bounds, s.buckets, worst/1000); ok {
			ms := seconds * 1000
			*to, shown.WorstMS = &ms, &worst
		}
	}
	return shown
}

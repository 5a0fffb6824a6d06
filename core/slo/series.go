package slo

import (
	"maps"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// How long a series keeps its hours apart where it has room, and how long it keeps its days.
const (
	HoursFor = 72 * time.Hour
	DaysFor  = 31 * 24 * time.Hour
)

// Resolution is for how long a series keeps its hours and its days apart. Below zero even those of now
// are joined.
type Resolution struct{ Hours, Days time.Duration }

// Resolutions are those of a ledger, the finest first. A coarser one is for a ledger that would
// otherwise have no room for all its business types.
var Resolutions = []Resolution{{HoursFor, DaysFor}, {day, DaysFor}, {0, DaysFor}, {-day, 0}, {-tenDays, -tenDays}}

// joined is the interval that an interval is joined to. One that is longer stays as it is.
func (r Resolution) joined(i Interval, now wire.Instant) (from, to wire.Instant) {
	length, begin := time.Hour, i.From.Time()
	switch {
	case begin.Before(now.Add(-r.Days).Time().Truncate(tenDays)):
		length = tenDays
	case begin.Before(now.Add(-r.Hours).Time().Truncate(day)):
		length = day
	}
	if i.To.Time().Sub(begin) >= length {
		return i.From, i.To
	}
	from = wire.At(begin.Truncate(length))
	return from, from.Add(length)
}

// How far a report looks back: at least, at most, and if a request does not say.
const (
	MinWindow     = time.Hour
	MaxWindow     = 30 * 24 * time.Hour
	DefaultWindow = MaxWindow
)

// Interval has the counts from one moment to another.
type Interval struct {
	From wire.Instant `json:"from"`
	To   wire.Instant `json:"to"`
	Counts
}

// Series are the intervals of a business type, oldest first. None overlaps another.
type Series []Interval

const (
	day     = 24 * time.Hour
	tenDays = 10 * day
)

// Record adds counts to the hour of a moment.
func (s Series) Record(at wire.Instant, counts Counts) Series {
	from := wire.At(at.Time().Truncate(time.Hour))
	i, found := slices.BinarySearchFunc(s, from, func(i Interval, at wire.Instant) int {
		if i.To <= at {
			return -1
		}
		if i.From > at {
			return 1
		}
		return 0
	})
	if !found {
		s = slices.Insert(s, i, Interval{From: from, To: from.Add(time.Hour)})
	}
	s[i].Add(counts)
	return s
}

// Compact joins the hours of a day (UTC), and the days of ten, as soon as all of them are older than
// a resolution keeps apart. It drops what is older than [DaysFor].
func (s Series) Compact(now wire.Instant, r Resolution) (kept Series) {
	oldest := now.Add(-DaysFor)
	for _, interval := range s {
		if interval.To <= oldest {
			continue
		}
		from, to := r.joined(interval, now)
		if last := len(kept) - 1; last >= 0 && from < kept[last].To {
			kept[last].Add(interval.Counts)
			continue
		}
		counts := interval.Counts
		counts.Lateness = maps.Clone(counts.Lateness) // further ones may be added to it
		kept = append(kept, Interval{From: from, To: to, Counts: counts})
	}
	return kept
}

// Bytes is about how large a series is where it is stored.
func (s Series) Bytes() (n int) {
	for _, interval := range s {
		n += bytesOfInterval + bytesOfBucket*len(interval.Lateness)
	}
	return n
}

// How large an interval is in JSON, and each bucket of its histogram.
const (
	bytesOfInterval = 280
	bytesOfBucket   = 10
)

// Since are the intervals that end after a moment.
func (s Series) Since(from wire.Instant) Series {
	i := slices.IndexFunc(s, func(i Interval) bool { return i.To > from })
	if i < 0 {
		return nil
	}
	return s[i:]
}

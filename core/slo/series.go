package slo

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// How long a series keeps its hours apart, and how long it keeps its days.
const (
	HoursFor = 72 * time.Hour
	DaysFor  = 31 * 24 * time.Hour
)

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

const day = 24 * time.Hour

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

// Compact joins the hours of a day (UTC) once all of them are older than [HoursFor], and drops
// the days that are older than [DaysFor].
func (s Series) Compact(now wire.Instant) (kept Series) {
	hours, days := wire.At(now.Add(-HoursFor).Time().Truncate(day)), now.Add(-DaysFor)
	for _, interval := range s {
		from := wire.At(interval.From.Time().Truncate(day))
		switch last := len(kept) - 1; {
		case interval.To <= days:
		case interval.From >= hours:
			kept = append(kept, interval)
		case last >= 0 && kept[last].From == from:
			kept[last].To = from.Add(day)
			kept[last].Add(interval.Counts)
		default:
			kept = append(kept, Interval{From: from, To: from.Add(day), Counts: interval.Counts})
		}
	}
	return kept
}

// Since are the intervals that end after a moment.
func (s Series) Since(from wire.Instant) Series {
	i := slices.IndexFunc(s, func(i Interval) bool { return i.To > from })
	if i < 0 {
		return nil
	}
	return s[i:]
}

package forecast

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Sending is a time in which a dispatch sends.
type Sending struct {
	From, To wire.Instant
	// PerSecond is its rate in items a second without other dispatches.
	PerSecond float64
}

// unknownDispatch is the assumed length of a dispatch with an unknown number of items.
const unknownDispatch = time.Hour

// OfDispatch returns the expected times before end in which a dispatch sends. limit is the
// callbacks a second of its type; 0 for none. It takes the number of items of a recurring
// dispatch from its last occurrence. It leaves out paused and uploading dispatches, and those in
// the future with an unknown number of items.
func OfDispatch(v dispatch.View, now, end wire.Instant, limit float64) (ahead []Sending) {
	items, known := expectedItems(v)
	perSecond := v.PerSecond
	if limit > 0 {
		perSecond = min(perSecond, policy.DispatchShare(limit))
	}
	add := func(from wire.Instant, lasts time.Duration) {
		if from < end {
			ahead = append(ahead, Sending{From: from, To: from.Add(lasts), PerSecond: perSecond})
		}
	}
	send := func(items int) time.Duration {
		return wire.Estimate(float64(items), max(perSecond, dispatch.MinRate))
	}
	switch {
	case v.Status == dispatch.Running && !known:
		add(now, unknownDispatch)
	case v.Status == dispatch.Running:
		add(now, send(max(items-v.Done-v.Failed, 0)))
	case v.Status == dispatch.Scheduled && known:
		add(v.Memo.BeginsAt(), send(items)+v.WarmUp.D()/2)
	default:
		return nil
	}
	if v.Recurrence == nil || !known {
		return ahead
	}
	for _, at := range v.Recurrence.Until(end-1).Upcoming(v.Memo.Cursor, MaxSteps) {
		if at > v.DueAt {
			add(at, send(items)+v.WarmUp.D()/2)
		}
	}
	return ahead
}

func expectedItems(v dispatch.View) (items int, known bool) {
	switch {
	case v.Items != nil:
		return *v.Items, true
	case v.Last != nil:
		return v.Last.Done + v.Last.Failed, true
	}
	return 0, false
}

// Share adds the items that a dispatch sends in a slot.
func (s *Slot) Share(d Sending) {
	within := min(s.End(), d.To).Time().Sub(max(s.At, d.From).Time())
	if within > 0 {
		s.Items += d.PerSecond * within.Seconds() / s.Width.Seconds()
	}
}

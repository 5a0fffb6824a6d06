package forecasts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// countAhead counts the timers due in each step, the rings of rules, the seconds of the
// crowded minutes, and the rate of dispatches. What has not changed since an earlier count is
// taken from there, unless before is nil.
func (f *Forecasts) countAhead(ctx context.Context, r Request, limit float64, before *histogram) (*histogram, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, kernel.Translate(ctx.Err())
	}
	c := &forecastCount{kernel: f.kernel, businessType: r.BusinessType}
	at := wire.At(time.Now())
	h, err := c.recount(ctx, r, before)
	if err == nil && h == nil {
		h, err = c.count(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	h.at = at
	if r.From <= h.at {
		if h.overdue, err = c.overdue(ctx, r.From); err != nil {
			return nil, err
		}
	}
	if err := c.refine(ctx, h, limit); err != nil {
		return nil, err
	}
	err = f.share(ctx, h, r, limit)
	h.questions = int(c.asked.Load()) + 1 // that for the dispatches
	return h, err
}

// count counts all steps anew.
func (c *forecastCount) count(ctx context.Context, r Request) (*histogram, error) {
	h := &histogram{whole: wire.At(time.Now())}
	var err error
	if h.slots, err = c.divide(ctx, r); err != nil {
		return nil, err
	}
	for _, slot := range h.slots {
		h.untried = append(h.untried, slot.Due)
	}
	return h, c.rules(ctx, h, r.To)
}

// share adds the rates of the type's dispatches.
func (f *Forecasts) share(ctx context.Context, h *histogram, r Request, limit float64) error {
	views, err := f.dispatches.Ahead(ctx, r.BusinessType)
	if err != nil {
		return err
	}
	for _, view := range views {
		for _, sent := range forecast.OfDispatch(view, h.at, r.To, limit) {
			for n := max(h.slot(sent.From), 0); n < len(h.slots) && h.slots[n].At < sent.To; n++ {
				h.slots[n].Share(sent)
			}
		}
	}
	return nil
}

// forecastCount counts timers of one business type.
type forecastCount struct {
	kernel       *kernel.Kernel
	businessType string
	// asked are its questions to visibility.
	asked atomic.Int64
}

func (c *forecastCount) query(state query.Query, from, to wire.Instant) query.Query {
	return query.All(visibility.OpenTimers(c.businessType), state, visibility.DueAt.From(from), visibility.DueAt.Before(to))
}

func (c *forecastCount) between(ctx context.Context, state query.Query, from, to wire.Instant) (int, error) {
	return c.number(ctx, c.query(state, from, to))
}

// overdue counts the timers that fell due before a moment and have still to be called. Those that are paused, and
// those whose receiver has accepted them, take nothing of the limit.
func (c *forecastCount) overdue(ctx context.Context, before wire.Instant) (int, error) {
	from := before.Add(-tuning.ForecastOverdue)
	open, err := c.between(ctx, query.Query{}, from, before)
	if open == 0 || err != nil {
		return 0, err
	}
	untried, err := c.between(ctx, visibility.Untried(), from, before)
	if err != nil {
		return 0, err
	}
	retrying, err := c.between(ctx, query.All(visibility.Retrying(), visibility.WebhookID.Missing()), from, before)
	return untried + retrying, err
}

func (c *forecastCount) number(ctx context.Context, q query.Query) (int, error) {
	c.asked.Add(1)
	return c.kernel.Count(ctx, q)
}

// stretch is a part of the slots. Its timers are probably few enough to be listed if few is set.
type stretch struct {
	first, end int
	few        bool
}

// divide counts step by step, and goes no deeper into empty stretches. It lists stretches
// with few timers: a page of a list is one question, and tells the step of each of its timers.
func (c *forecastCount) divide(ctx context.Context, r Request) ([]forecast.Slot, error) {
	slots := []forecast.Slot{}
	for at := r.From; at < r.To; at = at.Add(r.Step) {
		slots = append(slots, forecast.Slot{At: at, Width: min(r.Step, r.To.Time().Sub(at.Time()))})
	}
	if len(slots) == 0 {
		return slots, nil
	}
	var mu sync.Mutex
	for level := []stretch{{first: 0, end: len(slots)}}; len(level) > 0; {
		var next []stretch
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(tuning.ForecastWidth)
		for _, part := range level {
			group.Go(func() error {
				closer, err := c.look(ctx, slots[part.first:part.end], part)
				mu.Lock()
				defer mu.Unlock()
				next = append(next, closer...)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		level = next
	}
	return slots, nil
}

// look counts some slots together, and returns the stretches to look at one by one.
func (c *forecastCount) look(ctx context.Context, slots []forecast.Slot, part stretch) (closer []stretch, err error) {
	from, to := slots[0].At, slots[len(slots)-1].End()
	if part.few {
		if whole, err := c.tally(ctx, c.query(visibility.Untried(), from, to), slots); whole || err != nil {
			return nil, err
		}
	}
	n, err := c.between(ctx, visibility.Untried(), from, to)
	switch {
	case err != nil || n == 0:
		return nil, err
	case len(slots) == 1:
		slots[0].Due = n
		return nil, nil
	}
	return part.divide(n, !part.few), nil
}

// divide returns the parts of a stretch with so many timers. even reports whether they may be spread
// evenly over it. If they are not, a list of a part may be a page of many timers for nothing.
func (s stretch) divide(n int, even bool) (parts []stretch) {
	slots := s.end - s.first
	pieces, few := tuning.ForecastPieces, n < tuning.ForecastListed // a full page may have another one after it
	switch {
	case few:
		pieces = 1
	case n >= tuning.ForecastDense*slots:
		pieces = slots
	case even:
		pieces, few = (n+tuning.ForecastListed/2-1)/(tuning.ForecastListed/2), true
	}
	size := max((slots+pieces-1)/pieces, 1)
	for first := s.first; first < s.end; first += size {
		parts = append(parts, stretch{first, min(first+size, s.end), few})
	}
	return parts
}

// tally lists the timers of some slots, and counts each in its slot. It counts none and
// reports false if they are more than a page has.
func (c *forecastCount) tally(ctx context.Context, q query.Query, slots []forecast.Slot) (whole bool, err error) {
	c.asked.Add(1)
	page, err := c.kernel.List(ctx, q, tuning.ForecastListed, nil)
	if err != nil || len(page.GetNextPageToken()) > 0 {
		return false, err
	}
	h := &histogram{slots: slots}
	for _, info := range page.GetExecutions() {
		if memo, ok := memoOf(info); ok {
			h.add(memo.DueAt)
		}
	}
	return true, nil
}

// refine counts by seconds in the minutes with more due timers than the rate allows in one
// second. The lateness depends on whether all are due at the full minute or one after the other.
func (c *forecastCount) refine(ctx context.Context, h *histogram, limit float64) error {
	for _, minute := range h.crowded(limit, tuning.ForecastRefined-h.refined()) {
		seconds, err := c.divide(ctx, Request{From: minute.At, To: minute.End(), Step: tuning.ForecastFine})
		if err != nil {
			return err
		}
		h.replace(minute, seconds)
	}
	return nil
}

// recurring selects the open recurring timers.
func (c *forecastCount) recurring() query.Query {
	return query.All(visibility.OpenTimers(c.businessType), visibility.Labels.Is(timer.KeywordRecurring))
}

// rules adds the rings of recurring timers after their next occurrence.
func (c *forecastCount) rules(ctx context.Context, h *histogram, end wire.Instant) error {
	left := tuning.ForecastOccurrences
	return c.kernel.EachPage(ctx, c.recurring(), func(page []*workflowpb.WorkflowExecutionInfo) error {
		c.asked.Add(1)
		h.recurring += len(page)
		for _, info := range page {
			memo, ok := memoOf(info)
			if err := ctx.Err(); err != nil {
				return err
			}
			if !ok {
				continue
			}
			most := min(tuning.ForecastOccurrencesEach, left)
			times := memo.NominalTimes(end, most+1)
			if len(times) > most {
				h.leaveOut(times[most])
				times = times[:most]
			}
			left -= len(times)
			for _, at := range times {
				h.addRung(at)
			}
		}
		return nil
	})
}

func memoOf(info *workflowpb.WorkflowExecutionInfo) (memo timer.Memo, ok bool) {
	err := kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo)
	return memo, err == nil
}

package timers

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
)

// Series reads the extra data of recurring timers.
type Series struct {
	kernel *kernel.Kernel
	reader *Reader
}

// NewSeries returns the Series of a namespace.
func NewSeries(k *kernel.Kernel, reader *Reader) *Series { return &Series{kernel: k, reader: reader} }

// Upcoming returns the next nominal times of a timer, from its rule alone, or why there is
// none. The errors are [wire.NotFound], [wire.NotRecurring] and [wire.Unavailable].
func (s *Series) Upcoming(ctx context.Context, key wire.Key, count int) (timer.Upcoming, error) {
	view, err := s.recurring(ctx, key)
	if err != nil {
		return timer.Upcoming{}, err
	}
	return view.Upcoming(count, time.Now()), nil
}

// Occurrences is one page of ended occurrences, newest first.
type Occurrences struct {
	Past []timer.Past
	Next []byte // empty on the last page
}

// Occurrences reads one page from Temporal's visibility, as far as Temporal retains the runs of
// the timer. Those of an earlier booking of its id are not among them. A page may hold fewer than
// its size. The errors are those of [Series.Upcoming].
func (s *Series) Occurrences(ctx context.Context, key wire.Key, size int, token []byte) (Occurrences, error) {
	view, err := s.recurring(ctx, key)
	if err != nil {
		return Occurrences{}, err
	}
	response, err := s.kernel.List(ctx, query.All(visibility.Timers(), query.WorkflowID.Is(key.String())), size, token)
	if err != nil {
		return Occurrences{}, err
	}
	page := Occurrences{Past: []timer.Past{}, Next: response.GetNextPageToken()}
	if last, ok := view.Ended(); ok && len(token) == 0 {
		page.Past = append(page.Past, last)
	}
	for _, info := range response.GetExecutions() {
		// A run describes the occurrence that ended before it began.
		run, err := s.reader.View(ctx, info)
		if err != nil || run.Memo.Booking != view.Memo.Booking {
			continue
		}
		if series := run.Memo.Series; series != nil && series.Began && series.Last != nil {
			page.Past = append(page.Past, *series.Last)
		}
	}
	return page, nil
}

func (s *Series) recurring(ctx context.Context, key wire.Key) (timer.View, error) {
	view, err := s.reader.Get(ctx, key)
	if err == nil && view.Memo.Series == nil {
		return view, &wire.Error{Code: wire.NotRecurring, State: &view, Message: "The timer is not a recurring one."}
	}
	return view, err
}

package histories

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
)

// Histories reads the complete history of a timer from the histories of its runs. Nothing is
// stored for it.
type Histories struct {
	kernel *kernel.Kernel
	reader *timers.Reader
}

// New returns the Histories of a namespace.
func New(k *kernel.Kernel, reader *timers.Reader) *Histories {
	return &Histories{kernel: k, reader: reader}
}

// Page is one page of a history: that of some runs, in order of time.
type Page struct {
	Entries []timer.HistoryEntry
	// Next is the latest run of the page before it in time, for List's from; empty if there
	// is none.
	Next string
}

// List reads the history of some runs of a timer, ending with the run from, or with the
// latest one if that is "". It needs no worker. The runs of one booking and of its retries
// are exact. Temporal's visibility finds earlier bookings of the id and lags behind by a
// moment. The errors are [wire.NotFound], [wire.InvalidRequest] for a from that is no id of a run,
// and [wire.Unavailable].
func (h *Histories) List(ctx context.Context, key wire.Key, size int, from string) (Page, error) {
	if err := key.Check().Err(); err != nil {
		return Page{}, err
	}
	if !utf8.ValidString(from) { // which no call to Temporal can carry
		return Page{}, kernel.ErrPageToken()
	}
	next := from
	if next == "" {
		latest, err := h.reader.Run(ctx, key, "")
		if err != nil {
			return Page{}, err
		}
		next = latest.RunID
	}
	var runs []*runHistory
	for len(runs) < size && next != "" {
		run, err := h.ofRun(ctx, key, next)
		if wire.CodeOf(err) == wire.NotFound { // Temporal has deleted it meanwhile
			next = ""
			break
		}
		if next == from {
			err = kernel.OfToken(err)
		}
		if err != nil {
			return Page{}, err
		}
		runs = append(runs, run)
		if next, err = h.before(ctx, run); err != nil {
			return Page{}, err
		}
	}
	page := Page{Entries: []timer.HistoryEntry{}, Next: next}
	for _, run := range slices.Backward(runs) {
		page.Entries = append(page.Entries, run.allEntries()...)
	}
	return page, nil
}

// ofRun reads the history of one run, and the recorded attempts of an open one.
func (h *Histories) ofRun(ctx context.Context, key wire.Key, runID string) (*runHistory, error) {
	run := &runHistory{key: key, runID: runID}
	if err := h.kernel.EachEvent(ctx, key.String(), runID, run.addEvent); err != nil {
		return nil, err
	}
	if run.closed {
		return run, nil
	}
	described, err := h.kernel.Describe(ctx, key.String(), runID)
	if err != nil {
		return nil, err
	}
	for _, pending := range described.GetPendingActivities() {
		run.pending(pending)
	}
	return run, nil
}

// before is the run before a run: the one that it continues, or the last one of the booking
// before.
func (h *Histories) before(ctx context.Context, run *runHistory) (string, error) {
	if run.previous != "" {
		if _, _, err := h.reader.Input(ctx, run.key, run.previous); err == nil || wire.CodeOf(err) != wire.NotFound {
			return run.previous, err
		}
	}
	if run.began == 0 {
		return "", nil
	}
	earlier := query.All(visibility.Timers(), query.WorkflowID.Is(run.key.String()), query.StartTime.Before(run.began))
	response, err := h.kernel.List(ctx, earlier, 2, nil) // an instant is rounded up: the run itself may match
	if err != nil {
		return "", err
	}
	for _, info := range response.GetExecutions() {
		if found := info.GetExecution().GetRunId(); found != run.runID {
			return found, nil
		}
	}
	return "", nil
}

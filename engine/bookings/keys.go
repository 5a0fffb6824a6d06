package bookings

import (
	"context"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// keys finds bookings by the idempotency keys of their requests.
type keys struct {
	kernel *kernel.Kernel
	reader *timers.Reader
}

// bookedUnder is the timer that was booked under the key of a request, or else the one that
// has the id now. Only a request with a key whose id is taken by another booking needs
// further calls.
func (k *keys) bookedUnder(ctx context.Context, request *timer.Idempotency, now timer.View) (timer.View, error) {
	if request == nil || now.Memo.BookedUnder(request) {
		return now, nil
	}
	runID := now.Memo.EarlierKeys.Run(request)
	if runID == "" {
		var err error
		if runID, err = k.findKey(ctx, request, now); err != nil {
			return timer.View{}, err
		}
	}
	if runID == "" || runID == now.RunID {
		return now, nil
	}
	earlier, err := k.reader.Run(ctx, now.Key, runID)
	if wire.CodeOf(err) == wire.NotFound { // Temporal no longer retains it
		return now, nil
	}
	return earlier, err
}

// findKey asks visibility for the last run of the booking under a key; "" if there is none.
// The id may have been booked since, without a key or often.
func (k *keys) findKey(ctx context.Context, request *timer.Idempotency, now timer.View) (runID string, err error) {
	if err := k.untilShown(ctx, now); err != nil {
		return "", err
	}
	runs := query.All(visibility.Timers(), query.WorkflowID.Is(now.String()), query.NotStatus(visibility.Continued))
	var token []byte
	for range tuning.KeyPages {
		response, err := k.kernel.List(ctx, runs, tuning.MaxListed, token)
		if err != nil {
			return "", err
		}
		if runID := lastUnder(request, response.GetExecutions()); runID != "" {
			return runID, nil
		}
		if token = response.GetNextPageToken(); len(token) == 0 {
			break
		}
	}
	return "", nil
}

// untilShown waits until visibility shows the bookings before the timer. A timer booked
// under a key remembers the earlier keys itself, as many as it has room for. The clock of the gateway
// that booked it may be ahead.
func (k *keys) untilShown(ctx context.Context, now timer.View) error {
	if now.Memo.Idempotency != nil && len(now.Memo.EarlierKeys) < timer.MaxEarlierKeys {
		return nil
	}
	shown := now.CreatedAt.Add(tuning.VisibilityLag)
	select {
	case <-time.After(min(shown.Until(time.Now()), tuning.VisibilityLag)):
		return nil
	case <-ctx.Done():
		return kernel.Translate(ctx.Err())
	}
}

// lastUnder is the latest run of a booking under a key: a redelivery begins another run.
func lastUnder(request *timer.Idempotency, listed []*workflowpb.WorkflowExecutionInfo) (runID string) {
	var began time.Time
	for _, info := range listed {
		var memo timer.Memo
		if kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo) != nil || !memo.BookedUnder(request) {
			continue
		}
		if start := info.GetStartTime().AsTime(); runID == "" || start.After(began) {
			runID, began = info.GetExecution().GetRunId(), start
		}
	}
	return runID
}

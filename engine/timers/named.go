package timers

import (
	"context"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
)

// Named is one id of a timer other than its own. At most one field is set.
type Named struct {
	// RunID is that of any run of the timer, also of one that went on in another run.
	RunID string
	// WebhookID is that of a delivery that waits for its acknowledgement. No other delivery is
	// indexed by it.
	WebhookID string
}

// named returns the timer that an id names, as it is now. The page is empty if there is none.
func (l *Lister) named(ctx context.Context, one Named) (page Page, err error) {
	page.Timers = []timer.View{}
	by := query.RunID.Is(one.RunID)
	if one.WebhookID != "" {
		by = visibility.WebhookID.Is(one.WebhookID)
	}
	response, err := l.kernel.List(ctx, query.All(visibility.Timers(), by), 1, nil)
	if err != nil {
		return page, err
	}
	for _, info := range response.GetExecutions() {
		key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId())
		if !ok {
			continue
		}
		view, err := l.reader.Run(ctx, key, "")
		if wire.CodeOf(err) == wire.NotFound {
			continue
		}
		if err != nil {
			return page, err
		}
		page.Timers = append(page.Timers, view)
	}
	return page, nil
}

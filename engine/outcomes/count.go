package outcomes

import (
	"context"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// ended selects the timers of a business type that ended in some minutes.
func ended(businessType string, part span) query.Query {
	return query.All(
		visibility.Timers(), visibility.BusinessType.Is(businessType),
		query.Status(visibility.Completed, visibility.Failed, visibility.TimedOut),
		query.CloseTime.From(part.from()), query.CloseTime.Before(part.to()),
	)
}

// isExpired selects expired timers. Visibility shows them as completed.
func isExpired() query.Query { return visibility.State.Is(string(timer.Expired)) }

// count counts some minutes. It skips spans without an end, and lists the timers of spans with few ends.
func (o *Outcomes) count(ctx context.Context, businessType string, part span) ([]outcomes.Counts, error) {
	c := &counter{Outcomes: o, businessType: businessType, first: part.first, counts: make([]outcomes.Counts, part.end-part.first)}
	c.expired = sync.OnceValues(func() (int, error) {
		return c.number(ctx, query.All(ended(businessType, part), isExpired()))
	})
	return c.counts, c.divide(ctx, part)
}

// counter counts the minutes from first on.
type counter struct {
	*Outcomes
	businessType string
	first        int64
	counts       []outcomes.Counts
	// expired returns how many of all these timers have expired.
	expired func() (int, error)
}

func (c *counter) number(ctx context.Context, q query.Query) (int, error) {
	c.spent++
	return c.kernel.Count(ctx, q)
}

func (c *counter) divide(ctx context.Context, part span) error {
	c.spent++
	by, err := c.kernel.CountByStatus(ctx, ended(c.businessType, part))
	if err != nil {
		return err
	}
	n := 0
	for _, number := range by {
		n += number
	}
	switch {
	case n == 0:
		return nil
	case part.end-part.first == 1:
		return c.store(ctx, part, by)
	case n <= tuning.OutcomesListed:
		return c.list(ctx, part)
	}
	size := max((part.end-part.first)/tuning.OutcomesPieces, 1)
	for first := part.first; first < part.end; first += size {
		if err := c.divide(ctx, span{first, min(first+size, part.end)}); err != nil {
			return err
		}
	}
	return nil
}

// store stores the counts of one minute.
func (c *counter) store(ctx context.Context, part span, by map[enumspb.WorkflowExecutionStatus]int) error {
	counts := &c.counts[part.first-c.first]
	anyExpired, err := c.expired()
	if err != nil {
		return err
	}
	if anyExpired > 0 {
		expired, err := c.number(ctx, query.All(ended(c.businessType, part), isExpired()))
		if err != nil {
			return err
		}
		counts.Expired = expired
	}
	counts.Delivered = max(by[visibility.Completed]-counts.Expired, 0) // they were not counted at one moment
	counts.Failed = by[visibility.Failed] + by[visibility.TimedOut]
	return nil
}

// list reads the timers of some minutes, and counts each in its minute.
func (c *counter) list(ctx context.Context, part span) error {
	c.spent++
	return c.kernel.EachPage(ctx, ended(c.businessType, part), func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			at := numberOf(wire.Instant(info.GetCloseTime().AsTime().UnixMilli())) - c.first
			if at < 0 || at >= int64(len(c.counts)) {
				continue
			}
			switch counts := &c.counts[at]; {
			case info.GetStatus() != visibility.Completed:
				counts.Failed++
			case hasExpired(info):
				counts.Expired++
			default:
				counts.Delivered++
			}
		}
		return nil
	})
}

func hasExpired(info *workflowpb.WorkflowExecutionInfo) bool {
	var state string
	payload := info.GetSearchAttributes().GetIndexedFields()[workflows.AttrState.GetName()]
	return payload != nil && kernel.Payloads.FromPayload(payload, &state) == nil && state == string(timer.Expired)
}

// failing are the business types of timers that have failed since the last round.
func (o *Outcomes) failing(ctx context.Context) (types []string) {
	since := wire.At(time.Now().Add(-tuning.OutcomesRound - tuning.VisibilityLag))
	failed := query.All(visibility.Timers(), query.Status(visibility.Failed, visibility.TimedOut), query.CloseTime.From(since))
	response, err := o.kernel.List(o.questions.Counted(ctx), failed, tuning.MaxListed, nil)
	if err != nil {
		return nil // the next round asks again
	}
	seen := map[string]bool{}
	for _, info := range response.GetExecutions() {
		key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId())
		if ok && !seen[key.BusinessType] {
			seen[key.BusinessType] = true
			types = append(types, key.BusinessType)
		}
	}
	return types
}

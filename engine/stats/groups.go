package stats

import (
	"context"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// The groups of timers that Temporal's status does not tell apart from others.
const (
	delivering = iota
	paused
	expired
	redelivered // what failed, and was tried again
	allGroups
)

var groups = [allGroups]query.Query{
	delivering:  query.All(visibility.Timers(), query.Status(visibility.Running), visibility.State.Is(string(timer.Delivering))),
	paused:      query.All(visibility.Timers(), query.Status(visibility.Running), visibility.State.Is(string(timer.Paused))),
	expired:     query.All(visibility.Timers(), query.Status(visibility.Completed), visibility.State.Is(string(timer.Expired))),
	redelivered: visibility.Redeliveries(),
}

// groupCounter counts the timers of each group.
type groupCounter struct {
	*Stats
	groups [allGroups]struct {
		whole  int
		byType map[string]int // nil if there are too many to list
	}
}

// read counts the timers of each group, and lists a group that is small.
func (c *groupCounter) read(ctx context.Context) error {
	for n := range c.groups {
		var err error
		if c.groups[n].whole, err = c.kernel.Count(ctx, groups[n]); err != nil {
			return err
		}
		if c.groups[n].whole > tuning.StatsListed {
			continue
		}
		if err := c.list(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// list counts the timers of a group by type.
func (c *groupCounter) list(ctx context.Context, n int) error {
	group := &c.groups[n]
	group.whole, group.byType = 0, map[string]int{}
	add := func(info *workflowpb.WorkflowExecutionInfo) {
		if key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId()); ok {
			group.byType[key.BusinessType]++
			group.whole++
		}
	}
	if n == redelivered {
		return c.eachRedelivered(ctx, add)
	}
	return c.eachRun(ctx, groups[n], add)
}

// inGroup is how many timers of a type are in a group.
func (c *groupCounter) inGroup(ctx context.Context, businessType string, n int) (int, error) {
	group := c.groups[n]
	switch {
	case businessType == "":
		return group.whole, nil
	case group.byType != nil:
		return group.byType[businessType], nil
	}
	// The bounds exclude nothing. They make SQLite count by an index that covers the whole
	// query.
	return c.kernel.Count(ctx, query.All(groups[n], visibility.BusinessType.Is(businessType),
		visibility.DueAt.From(visibility.EarliestDue), visibility.DueAt.Before(visibility.LatestDue)))
}

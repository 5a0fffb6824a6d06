package ledger

import (
	"context"
	"maps"
	"slices"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
)

// doubt is a run that has ended if Temporal has recorded a completion that it did not answer.
type doubt struct {
	workflowID string
	since      time.Time
	// counted reports whether its end was found and counted. A late answer then counts nothing.
	counted bool
}

// Unanswered remembers the end of a timer that Temporal may have recorded. It is asked for later.
func (c *Counter) Unanswered(workflowID, runID string, commands []*commandpb.Command) {
	ends := func(command *commandpb.Command) bool { _, ended := outcomeIn(command); return ended }
	if _, ok := wire.ParseKey(workflowID); !ok || !slices.ContainsFunc(commands, ends) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.doubts[runID]; !known && len(c.doubts) < tuning.KnownTasks {
		c.doubts[runID] = doubt{workflowID: workflowID, since: time.Now()}
	}
}

// settled ends the doubt about a run, whose task was answered after all. It reports whether its
// end is counted already.
func (c *Counter) settled(runID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.doubts[runID]
	if !d.counted {
		delete(c.doubts, runID)
	}
	return d.counted
}

// settleDoubts asks Temporal for the ends that are in doubt, and counts those that this process made.
// What remains in doubt stays for the next call. Half of the time is left for the hand-over.
func (c *Counter) settleDoubts(ctx context.Context, temporal client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, tuning.LedgerTimeout/2)
	defer cancel()
	c.mu.Lock()
	doubts := maps.Clone(c.doubts)
	c.mu.Unlock()
	var asking errgroup.Group // one that cannot be read keeps no other in doubt
	asking.SetLimit(tuning.LedgerAsks)
	for runID, d := range doubts {
		if d.counted {
			c.resolve(runID, nil)
			continue
		}
		asking.Go(func() error { return c.askHowItEnded(ctx, temporal, runID, d) })
	}
	return asking.Wait()
}

// askHowItEnded asks how a run ended.
func (c *Counter) askHowItEnded(ctx context.Context, temporal client.Client, runID string, d doubt) error {
	last, err := temporal.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: c.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: d.workflowID, RunId: runID},
		MaximumPageSize: tuning.LedgerEvents,
	})
	if err != nil && !errtype.Is[*serviceerror.NotFound](err) {
		return err
	}
	outcome, ended := c.endedHere(last.GetHistory().GetEvents())
	if !ended {
		c.resolve(runID, nil)
		return nil
	}
	if c.resolve(runID, &outcome) {
		c.observe(d.workflowID, outcome)
	}
	return nil
}

// resolve records what is known of a run in doubt. It reports whether its end is to be counted. A
// run that has not ended here is forgotten when no task of then can be recorded any more.
func (c *Counter) resolve(runID string, outcome *timer.Outcome) (counts bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, doubted := c.doubts[runID]
	switch {
	case doubted && outcome != nil && !d.counted:
		d.counted = true
		c.doubts[runID] = d
		return true
	case time.Since(d.since) > tuning.LedgerDoubts:
		delete(c.doubts, runID)
	}
	return false
}

// endedHere is how a run ended by a task of this process, from its latest events, the last one
// first.
func (c *Counter) endedHere(events []*historypb.HistoryEvent) (outcome timer.Outcome, ended bool) {
	for _, event := range events {
		if task := event.GetWorkflowTaskCompletedEventAttributes(); task != nil {
			return outcome, ended && task.GetIdentity() == c.sender
		}
		if !ended {
			outcome, ended = outcomeOf(event)
		}
	}
	return outcome, false
}

// outcomeOf is how a timer or an occurrence ended by an event; ended is false where none did.
func outcomeOf(event *historypb.HistoryEvent) (outcome timer.Outcome, ended bool) {
	switch {
	case event.GetWorkflowExecutionCompletedEventAttributes() != nil:
		return outcome, decode(event.GetWorkflowExecutionCompletedEventAttributes().GetResult(), &outcome)
	case event.GetWorkflowExecutionFailedEventAttributes() != nil:
		return outcomeOfFailure(event.GetWorkflowExecutionFailedEventAttributes().GetFailure())
	case event.GetWorkflowExecutionCanceledEventAttributes() != nil:
		return outcome, decode(event.GetWorkflowExecutionCanceledEventAttributes().GetDetails(), &outcome)
	case event.GetWorkflowExecutionContinuedAsNewEventAttributes() != nil:
		return lastOccurrence(event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetInput())
	default:
		return outcome, false
	}
}

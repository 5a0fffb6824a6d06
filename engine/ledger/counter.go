package ledger

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Counter counts what happens in one process. It is safe for concurrent use.
type Counter struct {
	namespace, sender string
	policies          func() Promising

	mu     sync.Mutex
	counts map[string]*slo.Counts
	// batches are the counts that are being handed over, by ledger.
	batches map[int]*batch
	// doubts are the runs that may have ended without an answer, by run id.
	doubts map[string]doubt
	// unjudged are the ends of business types whose promise is not known yet, and waiting is how
	// many these are: at most [tuning.LedgerUnjudged].
	unjudged map[string][]timer.Outcome
	waiting  int
}

// Promising are the policies that say how late a first attempt may be. Trusted and LastRead make no
// call.
type Promising interface {
	Trusted(businessType string) (known policy.Policy, ok bool)
	LastRead(businessType string) policy.Policy
	Cached(ctx context.Context, businessType string) (policy.Policy, error)
}

// NewCounter returns a counter of the process that Temporal knows by the given identity, for a
// namespace. policies is called once the process counts.
func NewCounter(namespace, identity string, policies func() Promising) *Counter {
	return &Counter{
		namespace: namespace, sender: identity, policies: policies,
		counts: map[string]*slo.Counts{}, batches: map[int]*batch{}, doubts: map[string]doubt{}, unjudged: map[string][]timer.Outcome{},
	}
}

// countsFor is what is counted of a business type. The caller holds the lock.
func (c *Counter) countsFor(businessType string) *slo.Counts {
	counts, known := c.counts[businessType]
	if !known {
		counts = &slo.Counts{}
		c.counts[businessType] = counts
	}
	return counts
}

// Completed counts the ends of timers among the commands of a workflow task that Temporal has
// recorded.
func (c *Counter) Completed(workflowID, runID string, commands []*commandpb.Command) {
	if c.settled(runID) {
		return
	}
	for _, command := range commands {
		if outcome, ended := outcomeIn(command); ended {
			c.observe(workflowID, outcome)
		}
	}
}

// observe counts the end of a timer. A timer may end without an attempt of this process, as by an
// acknowledgement. Its policy may then not be known here, and it counts later. If very many wait for
// theirs, it is judged by the policy as it was last read: no end is lost, and the memory is bounded.
func (c *Counter) observe(workflowID string, outcome timer.Outcome) {
	key, ok := wire.ParseKey(workflowID)
	if !ok {
		return
	}
	promising, known := c.policies().Trusted(key.BusinessType)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case known:
	case c.waiting < tuning.LedgerUnjudged:
		outcome.LastFailure = nil // it is large, and does not count
		c.unjudged[key.BusinessType] = append(c.unjudged[key.BusinessType], outcome)
		c.waiting++
		return
	default:
		promising = c.policies().LastRead(key.BusinessType)
	}
	c.countsFor(key.BusinessType).Observe(outcome, OnTime(promising))
}

// judge counts the ends whose promise was not known. They wait on while the policy cannot be read.
func (c *Counter) judge(ctx context.Context) {
	for _, businessType := range c.unjudgedTypes() {
		promising, err := c.policies().Cached(ctx, businessType)
		if wire.CodeOf(err) == wire.Unavailable {
			continue
		}
		c.judgeBy(businessType, OnTime(promising))
	}
}

// judgeUnread counts the ends whose policy could not be read, by the policy as it was last read. It
// reports whether there were any.
func (c *Counter) judgeUnread() bool {
	unread := c.unjudgedTypes()
	for _, businessType := range unread {
		c.judgeBy(businessType, OnTime(c.policies().LastRead(businessType)))
	}
	return len(unread) > 0
}

func (c *Counter) unjudgedTypes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.unjudged))
}

func (c *Counter) judgeBy(businessType string, onTime time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, outcome := range c.unjudged[businessType] {
		c.countsFor(businessType).Observe(outcome, onTime)
	}
	c.waiting -= len(c.unjudged[businessType])
	delete(c.unjudged, businessType)
}

// outcomeIn is how a timer or an occurrence ended by a command; ended is false where none did.
func outcomeIn(command *commandpb.Command) (outcome timer.Outcome, ended bool) {
	switch {
	case command.GetCompleteWorkflowExecutionCommandAttributes() != nil:
		return outcome, decode(command.GetCompleteWorkflowExecutionCommandAttributes().GetResult(), &outcome)
	case command.GetFailWorkflowExecutionCommandAttributes() != nil:
		return outcomeOfFailure(command.GetFailWorkflowExecutionCommandAttributes().GetFailure())
	case command.GetCancelWorkflowExecutionCommandAttributes() != nil:
		return outcome, decode(command.GetCancelWorkflowExecutionCommandAttributes().GetDetails(), &outcome)
	case command.GetContinueAsNewWorkflowExecutionCommandAttributes() != nil:
		return lastOccurrence(command.GetContinueAsNewWorkflowExecutionCommandAttributes().GetInput())
	default:
		return outcome, false
	}
}

func outcomeOfFailure(failure *failurepb.Failure) (outcome timer.Outcome, ended bool) {
	info := failure.GetApplicationFailureInfo()
	return outcome, info.GetType() == workflows.ErrorFailed && decode(info.GetDetails(), &outcome)
}

// lastOccurrence is how an occurrence ended before the run that begins with this input. A run
// that continues for another reason says of none that it ended just now.
func lastOccurrence(input *commonpb.Payloads) (outcome timer.Outcome, ended bool) {
	var spec struct {
		Rung   *timer.Rung `json:"rung"`
		Series *struct {
			Last  *timer.Past `json:"last"`
			Began bool        `json:"began"`
		} `json:"series"`
	}
	if !decode(input, &spec) || spec.Series == nil || !spec.Series.Began || spec.Series.Last == nil {
		return outcome, false
	}
	outcome = spec.Series.Last.Outcome
	outcome.Again, outcome.Earlier = spec.Rung.EndedFor(spec.Series.Last.DueAt), spec.Rung.Unrecorded()
	return outcome, true
}

// decode reads the first of some payloads. It reports whether there was one that could be read.
func decode(payloads *commonpb.Payloads, into any) bool {
	return len(payloads.GetPayloads()) > 0 && kernel.Payloads.FromPayload(payloads.GetPayloads()[0], into) == nil
}

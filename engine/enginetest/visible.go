package enginetest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// Visible is a visibility store with scheduled timers of one business type.
type Visible struct {
	client.Client
	// Err is the error of every count and list.
	Err error
	// ErrFor returns the error of one query, where it is set.
	ErrFor func(query string) error

	Mu  sync.Mutex
	Due map[wire.Instant]int
	// Begun are the starts of open runs.
	Begun     []wire.Instant
	Recurring []timer.Memo
	// Dispatches are the open dispatches.
	Dispatches []dispatch.Memo
	Policies   []policy.Policy
	// Limited has the policies that can be described, by business type.
	Limited map[string]policy.Policy
	// Paused are the emergencies that can be described.
	Paused  []policy.Emergency
	Counts  int
	Counted int // timers
	Lists   int
	// Blocked delays counts while it is not nil.
	Blocked chan struct{}
}

var (
	bounds = regexp.MustCompile(`DueAt >= '([^']*)' AND DueAt < '([^']*)'`)
	begun  = regexp.MustCompile(`StartTime >= '([^']*)'`)
)

// begunSince returns how many runs began since the instant in a query.
func (v *Visible) begunSince(query string) (n int) {
	var since wire.Instant
	found := begun.FindStringSubmatch(query)
	if found == nil || since.UnmarshalText([]byte(found[1])) != nil {
		return 0
	}
	for _, at := range v.Begun {
		if at >= since {
			n++
		}
	}
	return n
}

// recurringIn returns how many recurring timers a query asks for.
func (v *Visible) recurringIn(query string) int {
	if !strings.Contains(query, timer.KeywordRecurring) {
		return 0
	}
	return len(v.Recurring)
}

// within returns the timers that fall due within the bounds of a query, the next ones first.
func (v *Visible) within(query string) (due []wire.Instant) {
	var from, to wire.Instant
	found := bounds.FindStringSubmatch(query)
	if strings.Contains(query, "= '"+string(timer.Delivering)+"'") { // each waits for its first attempt
		return nil
	}
	if found == nil || from.UnmarshalText([]byte(found[1])) != nil || to.UnmarshalText([]byte(found[2])) != nil {
		return nil
	}
	for at, n := range v.Due {
		if at >= from && at < to {
			for range n {
				due = append(due, at)
			}
		}
	}
	slices.Sort(due)
	return due
}

// CountWorkflow implements [client.Client].
func (v *Visible) CountWorkflow(_ context.Context,
	r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.Blocked != nil {
		<-v.Blocked
	}
	found := len(v.within(r.GetQuery())) + v.begunSince(r.GetQuery()) + v.recurringIn(r.GetQuery())
	v.Counts, v.Counted = v.Counts+1, v.Counted+found
	return &workflowservice.CountWorkflowExecutionsResponse{Count: int64(found)}, v.errOf(r.GetQuery())
}

func (v *Visible) errOf(query string) error {
	if v.ErrFor == nil {
		return v.Err
	}
	return errors.Join(v.Err, v.ErrFor(query))
}

// ListWorkflow implements [client.Client].
func (v *Visible) ListWorkflow(
	_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	answer := &workflowservice.ListWorkflowExecutionsResponse{}
	show := func(workflowType, id, name string, memo any) {
		encoded, err := Payloads.ToPayload(memo)
		v.Err = errors.Join(v.Err, err)
		answer.Executions = append(answer.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Type: &commonpb.WorkflowType{Name: workflowType},
			Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{name: encoded}},
		})
	}
	switch query := r.GetQuery(); {
	case strings.Contains(query, workflows.TypePolicy):
		for _, policy := range v.Policies {
			show(workflows.TypePolicy, workflows.PolicyID(policy.BusinessType), workflows.MemoPolicy,
				workflows.PolicyRecord{Policy: policy, ChangedAt: wire.At(time.Now())})
		}
	case strings.Contains(query, workflows.TypeDispatch):
		for _, memo := range v.Dispatches {
			show(workflows.TypeDispatch, workflows.DispatchWorkflowID(memo.Order.Key), workflows.MemoDispatch, memo)
		}
	case strings.Contains(query, timer.KeywordRecurring):
		for _, memo := range v.Recurring {
			show(workflows.TypeTimer, "order/recurring", workflows.MemoTimer, memo)
		}
	default:
		v.Lists++
		number := map[wire.Instant]int{}
		found := v.within(query)
		if size := int(r.GetPageSize()); size > 0 && len(found) >= size { // the tests read no second page
			found, answer.NextPageToken = found[:size], []byte("more")
		}
		for _, at := range found {
			number[at]++
			show(workflows.TypeTimer, fmt.Sprintf("order/%d-%d", at, number[at]), workflows.MemoTimer, timer.Memo{DueAt: at, CreatedAt: at})
		}
	}
	return answer, v.errOf(r.GetQuery())
}

// DescribeWorkflowExecution describes the policies in Limited and the emergencies in Paused, and nothing else.
func (v *Visible) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	for _, emergency := range v.Paused {
		if id == workflows.EmergencyID(emergency.BusinessType) {
			return runningWith(workflows.MemoEmergency, emergency)
		}
	}
	businessType, _ := workflows.PolicyOf(id)
	policy, ok := v.Limited[businessType]
	if !ok {
		return nil, serviceerror.NewNotFound("none")
	}
	return runningWith(workflows.MemoPolicy, workflows.PolicyRecord{Policy: policy, ChangedAt: wire.At(time.Now())})
}

// runningWith describes a workflow that runs, with one memo.
func runningWith(name string, value any) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	memo, err := Payloads.ToPayload(value)
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{name: memo}},
	}}, err
}

// Limit adds a policy with a rate of callbacks for a business type.
func (v *Visible) Limit(businessType string, rate float64) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.Limited == nil {
		v.Limited = map[string]policy.Policy{}
	}
	v.Limited[businessType] = policy.Policy{BusinessType: businessType, Limits: policy.Limits{CallbacksPerSecond: &rate}}
}

// MinuteIn returns the start of a minute ahead.
func MinuteIn(ahead time.Duration) wire.Instant {
	return wire.At(time.Now().Add(ahead).Truncate(time.Minute))
}

// EverySecond returns timers, one in each second of the hours from an instant on.
func EverySecond(from wire.Instant, hours int) *Visible {
	v := &Visible{Due: map[wire.Instant]int{}}
	for second := range hours * 3600 {
		v.Due[from.Add(time.Duration(second)*time.Second)] = 1
	}
	return v
}

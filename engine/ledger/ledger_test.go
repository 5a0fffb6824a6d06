package ledger

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func counting() *Counter {
	return NewCounter("default", "process-1", func() Promising { return promised{read: map[string]policy.Policy{"order": {}, "coupon": {}}} })
}

// An end of a type whose policy this process has not read waits until the policy can be read, and is
// judged by it.
func TestAnEndIsJudgedByThePolicy(t *testing.T) {
	t.Parallel()
	temporal, policies := &enginetest.Temporal{}, &promised{read: map[string]policy.Policy{}}
	counter := NewCounter("default", "process-1", func() Promising { return *policies })
	counter.Completed("order/1", "run-1", []*commandpb.Command{completed(t, ended(timer.Delivered, 1001))})
	counter.Completed("bare/1", "run-2", []*commandpb.Command{completed(t, ended(timer.Delivered, 1001))})
	require.NoError(t, counter.Flush(t.Context(), temporal))
	require.Empty(t, counter.counts, "Temporal does not tell the policies")

	policies.stored = map[string]policy.Policy{"order": {OnTime: wire.Duration(time.Minute)}}
	counter.judge(t.Context())
	require.Equal(t, slo.Promise(time.Minute), counter.counts["order"].JudgedBy)
	require.Equal(t, slo.Promise(policy.DefaultOnTime), counter.counts["bare"].JudgedBy)
	require.Equal(t, []int64{1, 0}, []int64{counter.counts["order"].OnTime, counter.counts["bare"].OnTime})
	counter.judge(t.Context())
	require.EqualValues(t, 1, counter.counts["order"].Rung, "once")
}

func encoded(t *testing.T, values ...any) *commonpb.Payloads {
	t.Helper()
	payloads, err := kernel.Payloads.ToPayloads(values...)
	require.NoError(t, err)
	return payloads
}

func ended(status timer.Status, late int64) timer.Outcome {
	return timer.Outcome{Status: status, Attempts: 2, LatenessMS: &late}
}

// again is the end of a timer that was tried again.
func again(outcome timer.Outcome) timer.Outcome {
	outcome.Again = true
	return outcome
}

func completed(t *testing.T, outcome any) *commandpb.Command {
	return &commandpb.Command{Attributes: &commandpb.Command_CompleteWorkflowExecutionCommandAttributes{
		CompleteWorkflowExecutionCommandAttributes: &commandpb.CompleteWorkflowExecutionCommandAttributes{Result: encoded(t, outcome)},
	}}
}

func cancelled(t *testing.T, details ...any) *commandpb.Command {
	return &commandpb.Command{Attributes: &commandpb.Command_CancelWorkflowExecutionCommandAttributes{
		CancelWorkflowExecutionCommandAttributes: &commandpb.CancelWorkflowExecutionCommandAttributes{Details: encoded(t, details...)},
	}}
}

func failed(t *testing.T, kind string, outcome any) *commandpb.Command {
	failure := &failurepb.Failure{FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
		ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind, Details: encoded(t, outcome)},
	}}
	return &commandpb.Command{Attributes: &commandpb.Command_FailWorkflowExecutionCommandAttributes{
		FailWorkflowExecutionCommandAttributes: &commandpb.FailWorkflowExecutionCommandAttributes{Failure: failure},
	}}
}

func continued(t *testing.T, series *timer.Series) *commandpb.Command {
	return continuedAfter(t, series, nil)
}

func continuedAfter(t *testing.T, series *timer.Series, rung *timer.Rung) *commandpb.Command {
	spec := timer.Spec{Memo: timer.Memo{Series: series}, Rung: rung}
	return &commandpb.Command{Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
		ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{Input: encoded(t, spec, nil)},
	}}
}

// What ends a timer or an occurrence counts, and nothing else does.
func TestEndsAreCounted(t *testing.T) {
	t.Parallel()
	last := &timer.Past{DueAt: 7, Outcome: ended(timer.Delivered, 3)}
	series := &timer.Series{Began: true, Last: last}
	occurrenceAfter := func(attempts int64) slo.Counts {
		return slo.Counts{Rung: 1, OnTime: 1, Delivered: 1, Attempts: 2 + attempts, WorstMS: 3, Lateness: slo.Histogram{3: 1}}
	}
	occurrence := occurrenceAfter(0)
	for name, c := range map[string]struct {
		workflow string
		command  *commandpb.Command
		want     slo.Counts
	}{
		"delivered":         {"order/1", completed(t, ended(timer.Delivered, 2)), slo.Counts{Rung: 1, OnTime: 1, Delivered: 1, Attempts: 2, WorstMS: 2, Lateness: slo.Histogram{2: 1}}},
		"failed and late":   {"order/1", failed(t, workflows.ErrorFailed, ended(timer.Failed, 1001)), slo.Counts{Rung: 1, Failed: 1, Attempts: 2, WorstMS: 1001, Lateness: slo.Histogram{111: 1}}},
		"an occurrence":     {"order/1", continued(t, series), occurrence},
		"tried again":       {"order/1", completed(t, again(ended(timer.Delivered, 9000))), slo.Counts{Delivered: 1, Attempts: 2}},
		"failed again":      {"order/1", failed(t, workflows.ErrorFailed, again(ended(timer.Failed, 9000))), slo.Counts{Failed: 1, Attempts: 2}},
		"one tried again":   {"order/1", continuedAfter(t, series, &timer.Rung{DueAt: 7, Ended: true}), slo.Counts{Delivered: 1, Attempts: 2}},
		"one after that":    {"order/1", continuedAfter(t, series, &timer.Rung{DueAt: 6, Ended: true}), occurrence},
		"one interrupted":   {"order/1", continuedAfter(t, series, &timer.Rung{DueAt: 7}), occurrence},
		"an extra one":      {"order/1", continuedAfter(t, series, &timer.Rung{DueAt: 6, Attempts: 3}), occurrenceAfter(3)},
		"after rounds":      {"order/1", completed(t, timer.Outcome{Status: timer.Delivered, Attempts: 1, Earlier: 3}), slo.Counts{Rung: 1, Delivered: 1, Attempts: 4}},
		"cancelled":         {"order/1", cancelled(t, timer.Outcome{Status: timer.Cancelled, Attempts: 1, Earlier: 3}), slo.Counts{Attempts: 4}},
		"a canary":          {policy.CanaryType("wakecall-1") + "/canary", completed(t, ended(timer.Delivered, 2)), slo.Counts{}},
		"a changed series":  {"order/1", continued(t, &timer.Series{Last: last}), slo.Counts{}},
		"a first one":       {"order/1", continued(t, &timer.Series{Began: true}), slo.Counts{}},
		"a moved timer":     {"order/1", continued(t, nil), slo.Counts{}},
		"another failure":   {"order/1", failed(t, "panic", ended(timer.Failed, 1)), slo.Counts{}},
		"an unread outcome": {"order/1", completed(t, "none"), slo.Counts{}},
		"a policy":          {workflows.PolicyID("order"), completed(t, ended(timer.Delivered, 2)), slo.Counts{}},
		"cancelled at rest": {"order/1", cancelled(t), slo.Counts{}},
		"no end":            {"order/1", &commandpb.Command{}, slo.Counts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counter := counting()
			counter.Completed(c.workflow, "run-1", []*commandpb.Command{c.command})
			if c.want.Rung > 0 {
				c.want.JudgedBy = slo.Promise(time.Second)
			}
			require.Equal(t, c.want, *counter.countsFor("order"))
		})
	}
}

// A start that made a timer counts with the size of its payload.
func TestBookingsAreCounted(t *testing.T) {
	t.Parallel()
	input := encoded(t, timer.Spec{})
	input.Payloads = append(input.Payloads, &commonpb.Payload{Data: []byte("12345")})
	start := func(change func(*workflowservice.StartWorkflowExecutionRequest)) *workflowservice.StartWorkflowExecutionRequest {
		r := &workflowservice.StartWorkflowExecutionRequest{WorkflowId: "order/1", WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeTimer}, Input: input}
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		request *workflowservice.StartWorkflowExecutionRequest
		started bool
		err     error
		want    int64
	}{
		"booked":         {start(func(*workflowservice.StartWorkflowExecutionRequest) {}), true, nil, 1},
		"there already":  {start(func(*workflowservice.StartWorkflowExecutionRequest) {}), false, nil, 0},
		"refused":        {start(func(*workflowservice.StartWorkflowExecutionRequest) {}), true, errors.New("refused"), 0},
		"of another one": {start(func(r *workflowservice.StartWorkflowExecutionRequest) { r.WorkflowType.Name = workflows.TypePolicy }), true, nil, 0},
		"redelivered": {start(func(r *workflowservice.StartWorkflowExecutionRequest) {
			r.Header = &commonpb.Header{Fields: map[string]*commonpb.Payload{workflows.HeaderAfter: {}}}
		}), true, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counter, reply := counting(), &workflowservice.StartWorkflowExecutionResponse{Started: c.started}
			err := counter.intercept(t.Context(), "", c.request, reply, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return c.err })
			require.Equal(t, c.err, err)
			require.Equal(t, slo.Counts{Booked: c.want, Bytes: 5 * c.want}, *counter.countsFor("order"))
		})
	}
}

// Counts are handed over once, and again under the same number where it is not known
// whether they arrived.
func TestCountsAreHandedOver(t *testing.T) {
	t.Parallel()
	temporal, counter := &enginetest.Temporal{}, counting()
	var handed []workflows.LedgerEntry
	temporal.OnEvent = func(_ string, event *historypb.HistoryEvent) {
		var entry workflows.LedgerEntry
		require.NoError(t, kernel.Payloads.FromPayloads(event.GetWorkflowExecutionSignaledEventAttributes().GetInput(), &entry))
		handed = append(handed, entry)
	}
	require.NoError(t, counter.Flush(t.Context(), temporal))
	require.Empty(t, handed, "nothing was counted")

	counter.booked("order", 5)
	temporal.Err = errors.New("lost")
	require.ErrorContains(t, counter.Flush(t.Context(), temporal), "lost")
	counter.booked("order", 7)
	counter.booked("coupon", 1)
	require.ErrorContains(t, counter.Flush(t.Context(), temporal), "lost")
	temporal.Err = nil
	require.NoError(t, counter.Flush(t.Context(), temporal))
	require.NoError(t, counter.Flush(t.Context(), temporal))

	numbers, booked := map[string][]int{}, map[string]int64{}
	for _, entry := range handed {
		require.Equal(t, "process-1", entry.Sender)
		require.InDelta(t, time.Now().UnixMilli(), entry.At.Time().UnixMilli(), 60_000)
		for businessType, counts := range entry.Counts {
			numbers[businessType] = append(numbers[businessType], entry.Number)
			booked[businessType] += counts.Bytes
		}
	}
	require.Equal(t, map[string][]int{"order": {1, 2}, "coupon": {1}}, numbers)
	require.Equal(t, map[string]int64{"order": 12, "coupon": 1}, booked)
}

// Of ends whose policy cannot be read only so many wait. Further ones are judged by the policy as it was
// last read, and so are all once the process ends. None is lost.
func TestEndsWhosePolicyCannotBeRead(t *testing.T) {
	t.Parallel()
	lastRead := map[string]policy.Policy{"order": {OnTime: wire.Duration(time.Minute)}}
	counter := NewCounter("default", "process-1", func() Promising { return unreadable{promised{read: lastRead}} })
	late := ended(timer.Delivered, 1001)
	for range tuning.LedgerUnjudged {
		counter.observe("order/1", late)
	}
	counter.observe("bare/1", late)
	require.Equal(t, slo.Promise(policy.DefaultOnTime), counter.counts["bare"].JudgedBy)
	counter.observe("order/1", late)
	require.Equal(t, []int64{1, 1}, []int64{counter.counts["order"].Rung, counter.counts["order"].OnTime})
	require.Len(t, counter.unjudged["order"], tuning.LedgerUnjudged)

	temporal, ending := &enginetest.Temporal{}, stopped(t)
	handed := map[string]slo.Counts{}
	temporal.OnEvent = func(_ string, event *historypb.HistoryEvent) {
		var entry workflows.LedgerEntry
		require.NoError(t, kernel.Payloads.FromPayloads(event.GetWorkflowExecutionSignaledEventAttributes().GetInput(), &entry))
		for businessType, counts := range entry.Counts {
			sum := handed[businessType]
			sum.Add(counts)
			handed[businessType] = sum
		}
	}
	counter.Run(ending, temporal, slog.New(slog.DiscardHandler))
	require.EqualValues(t, tuning.LedgerUnjudged+1, handed["order"].OnTime)
	require.EqualValues(t, 1, handed["bare"].Rung)
	counter.observe("order/1", late)
	require.Len(t, counter.unjudged["order"], 1, "those that were judged wait no more")
}

// stopped is the context of a process that ends.
func stopped(t *testing.T) context.Context {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return ctx
}

// unreadable are policies that were read long ago, and that Temporal no longer tells.
type unreadable struct{ promised }

func (unreadable) Trusted(string) (known policy.Policy, ok bool) { return known, false }

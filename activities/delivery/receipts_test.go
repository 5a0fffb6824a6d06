package delivery

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// had is a task that another worker had before.
type had struct {
	Tasks
	worker string
}

func (h had) Predecessor(string) string                             { return h.worker }
func (had) Hold(string) (attempt int, startedAt, beganAt time.Time) { return }
func (h had) TimedOut(string) bool                                  { return false }
func (h had) Reserve(context.Context, string)                       {}
func (h had) ReserveLast(context.Context, string)                   {}

// noPolicies knows no policy, and of no emergency.
type noPolicies struct{ Policies }

func (noPolicies) Policy(context.Context, string) (policy.Policy, error) { return policy.Policy{}, nil }

func (noPolicies) Paused(context.Context, string) (bool, error) { return false, nil }

// wanted is a Temporal by which every run is still wanted.
type wanted struct{ Runs }

func (wanted) Revoked(context.Context, wire.Key, timer.Hold) (delivery.Result, error) { return "", nil }

// full is a bulkhead without a slot: the attempt steps aside.
type full struct{ Bulkhead }

func (full) Enter(context.Context, string, int, int) (leave func(), ok bool) { return nil, false }

// repeats counts tasks that came again.
type repeats struct {
	Observer
	repeated int
}

func (r *repeats) Repeated() { r.repeated++ }

// crashed is a worker that is known to be dead, and has not rung what was due lately.
type crashed string

func (c crashed) Crashed(worker string, due time.Time) bool {
	return string(c) == worker && time.Since(due) < tuning.Promptly
}

func (c crashed) Lives(worker string) bool { return worker == "other" && c != "other" }

func (crashed) CutOff(time.Time) bool { return false }

func (crashed) Heard() bool { return true }

// A worker that is handed a task which another one had asks that one before it
// rings, once, and not if it knows the end itself.
func TestAnotherWorkersTaskIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		predecessor string
		asked       bool
		unanswered  timer.Unanswered
		known       bool
		crashed     crashed
		result      delivery.Result
	}{
		"nobody had it":              {result: delivery.ResultUseQueue},
		"this worker had it":         {predecessor: "self", result: delivery.ResultUseQueue},
		"another one had it":         {predecessor: "other", result: delivery.ResultElsewhere},
		"this one has made it since": {predecessor: "other", known: true, result: delivery.ResultDelivered},
		"another one died with it":   {predecessor: "other", crashed: "other", result: delivery.ResultUseQueue},
		"a third one died":           {predecessor: "other", crashed: "third", result: delivery.ResultElsewhere},
		"it knows of none":           {predecessor: "other", asked: true, result: delivery.ResultUseQueue},
		// The question itself makes this worker the one that had the last task.
		"it does not say, and lives":             {"self", true, timer.Unanswered{Worker: "other", Times: 1}, false, "", delivery.ResultElsewhere},
		"it does not say again":                  {"self", true, timer.Unanswered{Worker: "other", Times: tuning.ReceiptQuestions - 1}, false, "", delivery.ResultElsewhere},
		"it was asked enough":                    {"self", true, timer.Unanswered{Worker: "other", Times: tuning.ReceiptQuestions}, false, "", delivery.ResultUseQueue},
		"it does not say, and died":              {"self", true, timer.Unanswered{Worker: "other", Times: 1}, false, "other", delivery.ResultUseQueue},
		"it does not say, and was never seen":    {"self", true, timer.Unanswered{Worker: "stranger", Times: 1}, false, "", delivery.ResultUseQueue},
		"it does not say, and this one has rung": {"self", true, timer.Unanswered{Worker: "other", Times: 1}, true, "", delivery.ResultDelivered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempter, err := NewAttempter(Config{
				Worker: "self", Tasks: had{worker: c.predecessor}, Policies: noPolicies{}, Emergencies: noPolicies{}, Bulkhead: full{}, Observer: &repeats{},
				Runs: wanted{}, Failover: c.crashed,
			})
			require.NoError(t, err)
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			var report delivery.Report
			_, err = env.ExecuteLocalActivity(func(ctx context.Context) error {
				if c.known {
					attempter.receipts.Put(runOf(ctx), delivery.Report{Result: delivery.ResultDelivered})
				}
				spec := timer.Spec{Memo: timer.Memo{DueAt: wire.At(time.Now().Add(-tuning.Promptly / 10))}}
				report, err = attempter.FirstAttempt(ctx, timer.Delivery{Spec: spec, Asked: c.asked, Unanswered: c.unanswered}, converter.RawValue{})
				return err
			})
			require.NoError(t, err)
			require.Equal(t, c.result, report.Result)
			if c.result == delivery.ResultElsewhere {
				require.Equal(t, "other", report.Worker)
			}
		})
	}
}

// turns are tasks that tell which of them let others go first.
type turns struct {
	had
	last bool
}

func (t *turns) ReserveLast(context.Context, string) { t.last = true }

// What has rung for the last time lets others go first. Somebody waits for anything else.
func TestWhatHasRungEndsLast(t *testing.T) {
	t.Parallel()
	for result, last := range map[delivery.Result]bool{
		delivery.ResultDelivered: true, delivery.ResultAccepted: true, delivery.ResultFailed: true, delivery.ResultExpired: true,
		delivery.ResultRetry: false, delivery.ResultUseQueue: false, delivery.ResultInterrupted: false,
		delivery.ResultWorkerStopping: false, delivery.ResultRejected: false, delivery.ResultElsewhere: false,
	} {
		var tasks turns
		attempter, err := NewAttempter(Config{Tasks: &tasks, Observer: &repeats{}})
		require.NoError(t, err)
		var suite testsuite.WorkflowTestSuite
		_, err = suite.NewTestActivityEnvironment().ExecuteLocalActivity(func(ctx context.Context) error {
			attempter.receipts.Put(runOf(ctx), delivery.Report{Result: result})
			_, err := attempter.FirstAttempt(ctx, timer.Delivery{}, converter.RawValue{})
			return err
		})
		require.NoError(t, err)
		require.Equal(t, last, tasks.last, result)
	}
}

// revoked is a Temporal by which no run is wanted any more.
type revoked struct{ Runs }

func (revoked) Revoked(context.Context, wire.Key, timer.Hold) (delivery.Result, error) {
	return delivery.ResultInterrupted, nil
}

// unheeded counts nothing.
type unheeded struct{ Observer }

func (unheeded) Released(delivery.Result) {}

// A timer that is released without a ring names another worker that had its task: that one may have
// rung it.
func TestWhoMayHaveRungBefore(t *testing.T) {
	t.Parallel()
	for before, named := range map[string]string{"": "", "self": "", "other": "other"} {
		attempter, err := NewAttempter(Config{
			Worker: "self", Tasks: had{worker: before}, Runs: revoked{}, Failover: crashed("other"),
			Observer: unheeded{},
		})
		require.NoError(t, err)
		var suite testsuite.WorkflowTestSuite
		var report delivery.Report
		_, err = suite.NewTestActivityEnvironment().ExecuteLocalActivity(func(ctx context.Context) error {
			spec := timer.Spec{Memo: timer.Memo{DueAt: wire.At(time.Now().Add(-2 * tuning.Promptly))}}
			report, err = attempter.FirstAttempt(ctx, timer.Delivery{Spec: spec, Asked: true}, converter.RawValue{})
			return err
		})
		require.NoError(t, err)
		require.Equal(t, delivery.Report{Result: delivery.ResultInterrupted, Worker: named}, report, before)
	}
}

// unrecorded are the runs of tasks that were refused.
type unrecorded struct {
	Tasks
	runs map[string]string
}

func (u unrecorded) Unrecorded() map[string]string { return u.runs }

// letterbox is an engine that keeps the receipts that are left in runs.
type letterbox struct {
	Runs
	mu   sync.Mutex
	left map[string]delivery.Report
}

func (l *letterbox) StoreReceipt(_ context.Context, workflowID, runID string, report delivery.Report) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left[workflowID+" "+runID] = report
	return nil
}

// What was recorded, and what was never attempted, needs no receipt.
func TestReceiptsAreStored(t *testing.T) {
	t.Parallel()
	runs := &letterbox{left: map[string]delivery.Report{}}
	attempter, err := NewAttempter(Config{Runs: runs, Tasks: unrecorded{runs: map[string]string{"refused": "a/1", "unattempted": "a/2"}}})
	require.NoError(t, err)
	report := delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}
	attempter.receipts.Put("refused", report)
	attempter.receipts.Put("recorded", report)
	attempter.StoreReceipts(t.Context())
	require.Equal(t, map[string]delivery.Report{"a/1 refused": report}, runs.left)
}

// Whoever waits for an attempt that is under way gives signs of life.
func TestAWaitForAnAttemptBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempter, err := NewAttempter(Config{})
		require.NoError(t, err)
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		beats := 0
		env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats++ })
		env.SetTestTimeout(time.Hour)
		ask := func(ctx context.Context) (delivery.Report, error) {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _, _ = attempter.receipts.Once(runOf(ctx), func() (delivery.Report, error) {
					<-time.After(10*tuning.ReceiptHeartbeat + tuning.ReceiptHeartbeat/2)
					return delivery.Report{Result: delivery.ResultDelivered}, nil
				})
			}()
			synctest.Wait()
			report, err := attempter.OwnReceipt(ctx, timer.Delivery{})
			<-ended
			return report, err
		}
		env.RegisterActivity(ask)
		encoded, err := env.ExecuteActivity(ask)
		require.NoError(t, err)
		var report delivery.Report
		require.NoError(t, encoded.Get(&report))
		require.Equal(t, delivery.ResultDelivered, report.Result)
		require.GreaterOrEqual(t, beats, 1)
	})
}

package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// knowing is a Temporal that knows the holder of a run, and how its delivery stands.
type knowing struct {
	Runs
	holder string
	err    error
}

func (k knowing) Holder(context.Context, wire.Key, string) (string, error) { return k.holder, k.err }

func (k knowing) State(context.Context, wire.Key, string) (timer.RunState, error) {
	return timer.RunState{Wanted: true}, k.err
}

var due = wire.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))

// waiting is a timer that is due then.
var waiting = timer.Spec{Key: wire.Key{BusinessType: "x", BusinessID: "1"}, Memo: timer.Memo{CreatedAt: due.Add(-time.Hour), DueAt: due}}

// asked runs an activity of an attempter.
func asked[In, Out any](t *testing.T, ask func(context.Context, In) (Out, error), in In) (out Out, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(ask)
	value, err := env.ExecuteActivity(ask, in)
	if err == nil {
		require.NoError(t, value.Get(&out))
	}
	return out, err
}

// A worker that knows nothing of a run says who had its task before. Where that was no other,
// or nothing is known of it, the attempt is made on the queue.
func TestWhoHadTheTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs   knowing
		result delivery.Result
		worker string
	}{
		"another worker":        {knowing{holder: "other"}, delivery.ResultElsewhere, "other"},
		"one that died":         {knowing{holder: "dead"}, delivery.ResultUseQueue, ""},
		"this worker":           {knowing{holder: "self"}, delivery.ResultUseQueue, ""},
		"no worker":             {knowing{}, delivery.ResultUseQueue, ""},
		"Temporal does not say": {knowing{err: errors.New("no answer")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempter, err := NewAttempter(Config{Worker: "self", Runs: c.runs, Failover: crashed("dead")})
			require.NoError(t, err)
			report, err := asked(t, attempter.Receipt, timer.Delivery{Spec: waiting})
			require.Equal(t, c.runs.err != nil, err != nil)
			require.Equal(t, c.result, report.Result)
			require.Equal(t, c.worker, report.Worker)
		})
	}
}

// policyOf is the policy of every type, or why it cannot be read.
type policyOf struct {
	Policies
	policy policy.Policy
	err    error
}

func (p policyOf) Policy(context.Context, string) (policy.Policy, error) { return p.policy, p.err }

// A delivery may go on until the latest time that the policy sets as it is now. A type without
// a policy sets none.
func TestUntilWhenADeliveryMayGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs     knowing
		policies policyOf
		latest   wire.Instant
		version  int
		fails    bool
	}{
		"by its policy":             {knowing{}, policyOf{policy: policy.Policy{Version: 3, ExpiresAfter: wire.Duration(time.Hour)}}, due.Add(time.Hour), 3, false},
		"without a policy":          {knowing{}, policyOf{err: &wire.Error{Code: wire.NotFound}}, 0, 0, false},
		"the policy cannot be read": {knowing{}, policyOf{err: errors.New("no answer")}, 0, 0, true},
		"Temporal gives no answer":  {knowing{err: errors.New("no answer")}, policyOf{}, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempter, err := NewAttempter(Config{Runs: c.runs, Policies: c.policies})
			require.NoError(t, err)
			state, err := asked(t, attempter.State, waiting)
			require.Equal(t, c.fails, err != nil)
			require.Equal(t, c.latest, state.Latest)
			require.Equal(t, c.version, state.PolicyVersion)
			require.Equal(t, !c.fails, state.Wanted)
		})
	}
}

// sealed opens values whose key it has.
type sealed struct{}

func (sealed) Open(value string) (string, error) {
	if value == "lost" {
		return "", errors.New("no key opens it, and which is no caller's business")
	}
	return "opened " + value, nil
}

// The headers of a timer's own callback are opened when it is called. Where no key opens one
// the attempt fails without a call, and the ladder leaves time to configure the key.
func TestSealedHeaders(t *testing.T) {
	for value, called := range map[string]int{"token": 1, "lost": 0} {
		t.Run(value, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.attempter.Opener = sealed{}
				own := q.policy.Callback
				own.Headers = map[string]string{"Authorization": value}
				q.delivery.Spec.Callback = &own
				report := q.try()
				require.Len(t, q.calls, called)
				if called == 1 {
					require.Equal(t, "opened token", q.calls[0].Headers["Authorization"])
					return
				}
				require.Equal(t, delivery.ResultRetry, report.Result)
				require.Equal(t, delivery.SealedHeader, report.Failure.Class)
				require.Contains(t, report.Failure.Message, "Authorization")
				require.NotContains(t, report.Failure.Message, "no caller's business")
			})
		})
	}
}

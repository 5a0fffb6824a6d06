package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// entity runs a policy in workflow time, and records the rates of its queue: -1 for none.
type entity struct {
	*testing.T
	env   *testsuite.TestWorkflowEnvironment
	began time.Time
	rates []float64
	// policy is the entity's first policy. stuck reports whether its queue's rate can no
	// longer be set, and ends whether its run ends without a delete.
	policy      policy.Policy
	stuck, ends bool
	// lifting is called when the queue's rate is lifted. It may be nil.
	lifting func()
}

func newEntity(t *testing.T) *entity {
	e := &entity{T: t, began: time.Now().Truncate(time.Second), policy: policy.Policy{BusinessType: "x", Version: 1}}
	e.env = newEnvironment()
	e.env.SetStartTime(e.began)
	e.env.RegisterActivityWithOptions(func(_ context.Context, g policy.QueueRate) error {
		if e.stuck {
			return activity.ErrResultPending
		}
		rate := -1.0
		if g.Rate != nil {
			rate = *g.Rate
		} else if e.lifting != nil {
			e.lifting()
		}
		e.rates = append(e.rates, rate)
		return nil
	}, activity.RegisterOptions{Name: workflows.ActivitySetQueueRate})
	return e
}

func (e *entity) later(after time.Duration, do func()) { e.env.RegisterDelayedCallback(do, after) }

// press has a receiver request an hour of back-pressure.
func (e *entity) press(since time.Duration) {
	at := wire.At(e.began.Add(since))
	e.env.SignalWorkflow(workflows.SignalBackPressure, policy.BackPressure{Since: at, Until: at.Add(time.Hour), Status: 503})
}

func (e *entity) update(name string, args ...any) {
	e.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnAccept:   func() {},
		OnReject:   func(err error) { require.NoError(e, err) },
		OnComplete: func(_ any, err error) { require.NoError(e, err) },
	}, args...)
}

func (e *entity) record(policy policy.Policy) workflows.PolicyRecord {
	return workflows.PolicyRecord{Policy: policy, ChangedAt: wire.At(e.began)}
}

func (e *entity) run() {
	e.env.ExecuteWorkflow(workflows.TypePolicy, e.record(e.policy))
	if !e.ends {
		require.NoError(e, e.env.GetWorkflowError())
	}
}

// Lifted back-pressure ends at once, and a request from before the lift does not count when
// it arrives later.
func TestLiftedBackPressure(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	e.later(time.Second, func() { e.update(workflows.UpdateLiftPressure) }) // there is none
	e.later(time.Minute, func() { e.press(time.Minute) })
	e.later(2*time.Minute, func() { e.update(workflows.UpdateLiftPressure) })
	e.later(3*time.Minute, func() { e.press(time.Minute + time.Second) })
	e.later(4*time.Minute, func() { require.Equal(t, []float64{-1, 0, -1}, e.rates) })
	e.later(5*time.Minute, func() { e.press(5 * time.Minute) })
	e.later(6*time.Minute, func() { require.Equal(t, []float64{-1, 0, -1, 0}, e.rates, "the next wish counts again") })
	e.later(10*time.Minute, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
}

// The longest request counts, from the time of the first one, and one alert reports it.
func TestLongerBackPressure(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	e.policy.Alert = &delivery.Alert{Destination: delivery.HTTP("http://127.0.0.1:1")}
	var told []timer.Event
	e.env.RegisterActivityWithOptions(func(_ context.Context, event timer.Event) error {
		told = append(told, event)
		return nil
	}, activity.RegisterOptions{Name: workflows.ActivityAlert})
	var since []wire.Instant
	e.env.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		since = append(since, args.Get(0).(map[string]any)[workflows.MemoPolicy].(workflows.PolicyRecord).Policy.BackPressure.Since)
	})
	e.later(time.Minute, func() { e.press(time.Minute) })
	e.later(30*time.Minute, func() { e.press(30 * time.Minute) })
	e.later(31*time.Minute, func() { e.press(0) }) // over sooner
	e.later(90*time.Minute-time.Second, func() { require.Equal(t, []float64{-1, 0}, e.rates) })
	e.later(90*time.Minute+time.Second, func() { require.Equal(t, []float64{-1, 0, -1}, e.rates) })
	e.later(2*time.Hour, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
	began := wire.At(e.began.Add(time.Minute))
	require.Equal(t, []wire.Instant{began, began}, since)
	require.Len(t, told, 1)
	require.Equal(t, timer.EventBackPressure, told[0].Type)
}

// A policy that grants less shortens the back-pressure in force.
func TestCutBackPressure(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	most := wire.Duration(time.Minute)
	e.later(time.Minute, func() { e.press(time.Minute) })
	e.later(2*time.Minute, func() {
		next := policy.Policy{BusinessType: "x", Version: 2, MaxBackPressure: &most}
		e.update(workflows.UpdatePutPolicy, workflows.PutPolicy{Record: e.record(next), IfVersion: 1})
	})
	e.later(2*time.Minute+59*time.Second, func() { require.Equal(t, []float64{-1, 0}, e.rates) })
	e.later(3*time.Minute+time.Second, func() { require.Equal(t, []float64{-1, 0, -1}, e.rates) })
	e.later(10*time.Minute, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
}

// The dispatches' claims on a limit reduce the timers' part, until the claims are released
// or expire, across all changes of the policy.
func TestClaimsOfDispatches(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	limit, less := 100.0, 50.0
	e.policy.Limits.CallbacksPerSecond = &limit
	claim := func(dispatch string, perSecond float64, until time.Duration) {
		e.env.SignalWorkflow(workflows.SignalClaim, policy.Claim{Dispatch: dispatch, PerSecond: perSecond, Until: wire.At(e.began.Add(until))})
	}
	var claims []int
	e.env.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		claims = append(claims, len(args.Get(0).(map[string]any)[workflows.MemoPolicy].(workflows.PolicyRecord).Policy.Claims))
	})
	e.later(time.Minute, func() { claim("a", 40, time.Hour) })
	e.later(2*time.Minute, func() { claim("b", 20, 2*time.Hour) })
	e.later(3*time.Minute, func() { require.Equal(t, []float64{100, 60, 40}, e.rates) })
	e.later(4*time.Minute, func() {
		next := policy.Policy{BusinessType: "x", Version: 2, Limits: policy.Limits{CallbacksPerSecond: &less}}
		e.update(workflows.UpdatePutPolicy, workflows.PutPolicy{Record: e.record(next), IfVersion: 1})
	})
	e.later(5*time.Minute, func() { require.Equal(t, []float64{100, 60, 40, 5}, e.rates) })
	e.later(6*time.Minute, func() { e.env.SignalWorkflow(workflows.SignalClaim, policy.Claim{Dispatch: "b"}) }) // as the executor releases it
	e.later(7*time.Minute, func() { require.Equal(t, []float64{100, 60, 40, 5, 10}, e.rates) })
	e.later(61*time.Minute, func() {
		require.Equal(t, []float64{100, 60, 40, 5, 10, 50}, e.rates, "it lapsed")
		require.Equal(t, []int{1, 2, 2, 1, 0}, claims)
	})
	e.later(2*time.Hour, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
}

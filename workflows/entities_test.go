package workflows_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// refused expects an update to be refused for its version.
func (e *entity) refused(name string, args ...any) {
	rejected := false
	e.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnAccept: func() { require.Fail(e, "accepted", "%s", name) },
		OnReject: func(err error) {
			var app *temporal.ApplicationError
			require.ErrorAs(e, err, &app)
			require.Equal(e, workflows.ErrorVersion, app.Type())
			rejected = true
		},
		OnComplete: func(any, error) {},
	}, args...)
	e.Cleanup(func() { require.True(e, rejected, name) })
}

func (e *entity) put(version, onVersion int) workflows.PutPolicy {
	return workflows.PutPolicy{Record: e.record(policy.Policy{BusinessType: "x", Version: version}), IfVersion: onVersion}
}

// A change based on another version is refused, and changes nothing.
func TestAPolicyRefuses(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	e.later(time.Second, func() {
		e.refused(workflows.UpdatePutPolicy, e.put(3, 2))
		e.refused(workflows.UpdateDeletePolicy, "me", wire.At(e.began))
		e.update(workflows.UpdatePutPolicy, e.put(2, 1))
		e.refused(workflows.UpdatePutPolicy, e.put(2, 1))
	})
	e.later(time.Minute, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
}

// While a policy's timers are being cancelled, only the deleting call may change it, until
// its time has passed.
func TestASealedPolicy(t *testing.T) {
	t.Parallel()
	e := newEntity(t)
	until := wire.At(e.began.Add(time.Minute))
	sealed := e.put(1, 1)
	sealed.Record.ClosedUntil, sealed.Record.Sealed, sealed.Closing = until, true, until
	reopened := sealed
	reopened.Record.ClosedUntil, reopened.Record.Sealed = 0, false
	e.later(time.Second, func() {
		e.update(workflows.UpdatePutPolicy, sealed)
		e.refused(workflows.UpdatePutPolicy, e.put(2, 1))
		e.update(workflows.UpdatePutPolicy, reopened)
		e.update(workflows.UpdatePutPolicy, e.put(2, 1))
	})
	e.later(2*time.Second, func() {
		again := sealed
		again.IfVersion, again.Record.Policy.Version = 2, 2
		e.update(workflows.UpdatePutPolicy, again)
	})
	e.later(2*time.Minute, func() { e.update(workflows.UpdatePutPolicy, e.put(3, 2)) })
	e.later(3*time.Minute, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
}

// A policy that is being deleted accepts nothing more.
func TestAPolicyThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	limited := 7.0
	e := newEntity(t)
	e.policy.Limits.CallbacksPerSecond = &limited
	e.lifting = func() { e.refused(workflows.UpdatePutPolicy, e.put(2, 1)) }
	e.later(time.Second, func() { e.update(workflows.UpdateDeletePolicy, "me") })
	e.run()
	require.Equal(t, []float64{7, -1}, e.rates)
}

// The ends of a policy's run other than a delete.
func TestAPolicyEnds(t *testing.T) {
	t.Parallel()
	limited := 7.0
	for name, c := range map[string]struct {
		given func(*entity)
		check func(*testing.T, error)
	}{
		"cancelled while nothing happens": {
			func(e *entity) { e.later(time.Minute, e.env.CancelWorkflow) }, endsCancelled,
		},
		"cancelled while its queue gets a rate": {
			func(e *entity) { e.stuck = true; e.later(time.Minute, e.env.CancelWorkflow) }, endsCancelled,
		},
		"cancelled while it is being deleted": {
			func(e *entity) {
				e.policy.Limits.CallbacksPerSecond = &limited
				e.later(time.Second, func() {
					e.stuck = true
					e.env.UpdateWorkflow(workflows.UpdateDeletePolicy, "", &testsuite.TestUpdateCallback{
						OnAccept: func() {}, OnReject: func(err error) { require.NoError(e, err) },
						OnComplete: func(_ any, err error) { endsCancelled(e.T, err) },
					}, "me")
				})
				e.later(time.Minute, e.env.CancelWorkflow)
			}, endsCancelled,
		},
		"after many changes, in a new run": {
			func(e *entity) {
				for n := range 500 {
					e.later(time.Duration(n+1)*time.Second, func() { e.update(workflows.UpdatePutPolicy, e.put(n+2, n+1)) })
				}
			},
			func(t *testing.T, err error) {
				var next workflows.PolicyRecord
				continues(t, err, &next)
				require.Equal(t, 501, next.Policy.Version)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEntity(t)
			e.ends = true
			c.given(e)
			e.run()
			c.check(t, e.env.GetWorkflowError())
		})
	}
}

func endsCancelled(t *testing.T, err error) {
	t.Helper()
	require.True(t, temporal.IsCanceledError(err), "%v", err)
}

// continues expects a workflow to continue in another run, and reads that run's input.
func continues(t *testing.T, err error, input ...any) {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &again)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, input...))
}

// probe runs the workflow of the readiness probe, and queries it that often.
func probe(t *testing.T, times int) error {
	env := newEnvironment()
	answered := 0
	for n := range times {
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(workflows.UpdateProbe, strconv.Itoa(n), &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { require.NoError(t, err) },
				OnComplete: func(_ any, err error) { require.NoError(t, err); answered++ },
			})
		}, time.Duration(n+1)*time.Second)
	}
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(workflows.TypeProbe)
	require.Equal(t, times, answered)
	return env.GetWorkflowError()
}

// The probe answers without end, in a new run before its history grows too long.
func TestTheProbe(t *testing.T) {
	t.Parallel()
	endsCancelled(t, probe(t, 499))
	continues(t, probe(t, 500))
}

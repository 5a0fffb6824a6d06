package alerts

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/workflows"
)

func TestAnAlertIsRaisedOnceForEachOccasion(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Alert: &delivery.Alert{Destination: delivery.HTTP("https://alerts.test/")}})
	on.Policy(t, policy.Policy{BusinessType: "quiet"})
	k := kernel.New(on, "default", "")
	alerts := New(k, policies.New(k, policies.Config{TTL: time.Minute}))
	of := func(businessType string) timer.Event {
		return timer.Event{Type: timer.EventOverdue, Data: timer.EventData{BusinessType: businessType}}
	}
	require.NoError(t, alerts.Raise(t.Context(), of("quiet"), "noon"), "it wants none")
	require.NoError(t, alerts.Raise(t.Context(), of("unknown"), "noon"), "it has no policy")
	require.Empty(t, on.Called("ExecuteWorkflow"))

	for range 2 { // somebody else was first
		require.NoError(t, alerts.Raise(t.Context(), of("order"), "noon"))
		require.Equal(t, 1, on.RunsOf(workflows.AlertID(timer.EventOverdue, "order:noon")))
	}
	on.Err = errors.New("down")
	require.Equal(t, wire.Unavailable, wire.CodeOf(alerts.Raise(t.Context(), of("order"), "noon")))
}

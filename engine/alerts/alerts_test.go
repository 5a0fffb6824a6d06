package alerts

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

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
	f := &enginetest.Fake{}
	f.PolicyOf(t, policy.Policy{BusinessType: "order", Alert: &delivery.Alert{Destination: delivery.HTTP("https://alerts.test/")}})
	f.PolicyOf(t, policy.Policy{BusinessType: "quiet"})
	k := kernel.New(f, "default", "")
	alerts := New(k, policies.New(k, policies.Config{TTL: time.Minute}))
	of := func(businessType string) timer.Event {
		return timer.Event{Type: timer.EventOverdue, Data: timer.EventData{BusinessType: businessType}}
	}
	require.NoError(t, alerts.Raise(t.Context(), of("quiet"), "noon"), "it wants none")
	require.NoError(t, alerts.Raise(t.Context(), of("unknown"), "noon"), "it has no policy")
	require.Empty(t, f.Started)

	require.NoError(t, alerts.Raise(t.Context(), of("order"), "noon"))
	require.Equal(t, []string{workflows.AlertID(timer.EventOverdue, "order:noon")}, f.Started)
	f.Err = serviceerror.NewWorkflowExecutionAlreadyStarted("somebody else was first", "", "")
	require.NoError(t, alerts.Raise(t.Context(), of("order"), "noon"))
	f.Err = errors.New("down")
	require.Equal(t, wire.Unavailable, wire.CodeOf(alerts.Raise(t.Context(), of("order"), "noon")))
}

package waits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/workflows"
)

// What an attempt waits for: what holds its whole type comes before what its queue tells.
func TestWhatAnAttemptWaitsFor(t *testing.T) {
	t.Parallel()
	queue := workflows.DeliveryQueue("order")
	for name, c := range map[string]struct {
		paused, everything bool
		backlog            int64
		unpolled           bool
		want               delivery.Waiting
	}{
		"nothing":          {},
		"its policy":       {paused: true, want: delivery.WaitsForPause},
		"an emergency":     {everything: true, want: delivery.WaitsForEmergency},
		"a worker":         {unpolled: true, want: delivery.WaitsForWorker},
		"policy before it": {paused: true, unpolled: true, want: delivery.WaitsForPause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Backlogs: map[string]int64{queue: c.backlog}, Unpolled: map[string]bool{queue: c.unpolled}}
			on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Paused: c.paused, Callback: delivery.Callback{Destination: delivery.HTTP("https://o.test/")}}.WithDefaults())
			k := kernel.New(on, "default", "")
			t.Cleanup(k.EndWaits)
			known, pauses := policies.New(k, policies.Config{TTL: time.Hour}), emergencies.New(k, time.Hour)
			if c.everything {
				_, err := pauses.Pause(t.Context(), policy.EmergencyOrder{Everything: true, Author: "operator", Note: "fire"})
				require.NoError(t, err)
			}
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
			due := wire.At(time.Now()).Add(-time.Minute)
			New(known, pauses, queues.New(k, known), living{}).ShowNext(t.Context(), &view, policy.Standby{NotBefore: due})
			require.Equal(t, c.want, view.WaitsFor)
		})
	}
}

package observe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// The labels of dispatches are bounded: there are no ids, and a type needs a policy.
func TestMetricsOfDispatches(t *testing.T) {
	t.Parallel()
	telemetry, scrape := openMetrics(t)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "reminder"}})
	one, other := wire.Key{BusinessType: "reminder", BusinessID: "one"}, wire.Key{BusinessType: "reminder", BusinessID: "other"}
	telemetry.items.Dispatching(one, 0, 100, time.Second)
	telemetry.items.Dispatching(one, 1, 100, 2*time.Second)
	telemetry.items.Dispatching(other, 1, 50, 3*time.Second)
	telemetry.items.Dispatching(wire.Key{BusinessType: "made-up", BusinessID: "x"}, 0, 7, 0)
	telemetry.items.Dispatched("reminder", "done", 12)
	telemetry.items.Dispatched("made-up", "done", 3)
	text := scrape()
	for _, line := range []string{
		`wakecall_dispatch_rate{business_type="reminder"} 250`, `wakecall_dispatch_rate{business_type="other"} 7`,
		`wakecall_dispatch_lag_seconds{business_type="reminder",shard="0"} 1`, `wakecall_dispatch_lag_seconds{business_type="reminder",shard="1"} 3`,
		`wakecall_dispatch_items_total{business_type="reminder",outcome="done"} 12`, `wakecall_dispatch_items_total{business_type="other",outcome="done"} 3`,
	} {
		require.Contains(t, text, line+"\n")
	}
	telemetry.items.Dispatching(one, 1, 0, 0)
	telemetry.items.Dispatching(other, 1, 0, 0)
	telemetry.PoliciesListed(nil)
	text = scrape()
	require.NotContains(t, text, "reminder")
	require.NotContains(t, text, `shard="1"`)
	require.Contains(t, text, `wakecall_dispatch_rate{business_type="other"} 107`)
}

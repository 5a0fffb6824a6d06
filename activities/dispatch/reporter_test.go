package dispatch

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

// oneType gives one business type a label, and all others another.
type oneType string

func (o oneType) Labelled(businessType string, write func(label string)) {
	if businessType != string(o) {
		businessType = "other"
	}
	write(businessType)
}

// samplesOf are the values of the series of a reporter, by name and labels.
func samplesOf(t *testing.T, r *Reporter) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r)
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return values
}

// Shards of one type are shown together: their rates are added, and the longest lag counts.
func TestWhatDispatchesReport(t *testing.T) {
	t.Parallel()
	r := NewReporter(oneType("mass"))
	require.Empty(t, samplesOf(t, r))
	r.Begin("mass", false)
	second := wire.Key{BusinessType: "mass", BusinessID: "e"}
	r.Dispatching(key, 0, 100, time.Second)
	r.Dispatching(second, 0, 50, 3*time.Second)
	r.Dispatching(wire.Key{BusinessType: "unknown"}, 1, 7, 0)
	r.Dispatched("mass", OutcomeDone, 12)
	require.Equal(t, map[string]float64{
		"wakecall_dispatch_items_total mass done": 12, "wakecall_dispatch_items_total mass retry": 0, "wakecall_dispatch_items_total mass failed": 0,
		"wakecall_dispatch_rate mass": 150, "wakecall_dispatch_rate other": 7,
		"wakecall_dispatch_lag_seconds mass 0": 3, "wakecall_dispatch_lag_seconds other 1": 0,
	}, samplesOf(t, r))
	r.Dispatching(second, 0, 0, 0)
	r.End("mass")
	left := samplesOf(t, r)
	require.InDelta(t, 100, left["wakecall_dispatch_rate mass"], 0, "a shard that sends no more is not shown")
	require.NotContains(t, left, "wakecall_dispatch_items_total mass done", "its series end with the label")
}

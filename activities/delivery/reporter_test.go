package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

// everyType gives each business type a label of its own.
type everyType struct{}

func (everyType) Labelled(businessType string, write func(label string)) { write(businessType) }

// noted are the attempts that were recorded minute by minute.
type noted struct{ attempts []string }

func (n *noted) Attempted(businessType string, latenessMS *int64, retried bool) {
	late := int64(-1)
	if latenessMS != nil {
		late = *latenessMS
	}
	n.attempts = append(n.attempts, fmt.Sprint(businessType, " ", late, " ", retried))
}

// An attempt is recorded in its minute too, with its lateness and whether it is repeated.
func TestAttemptsAreRecordedByTheMinute(t *testing.T) {
	t.Parallel()
	past, late := &noted{}, int64(7)
	r := NewReporter(everyType{}, past)
	r.Attempted("order", delivery.Report{Result: delivery.ResultRetry, LatenessMS: &late}, time.Second)
	r.Attempted("order", delivery.Report{Result: delivery.ResultDelivered}, time.Second)
	require.Equal(t, []string{"order 7 true", "order -1 false"}, past.attempts)
}

// samples are the values of counters, and the counts of histograms, by name, added up over
// their series. series are the numbers of series.
func samples(t *testing.T, r *Reporter) (values map[string]float64, series map[string]int) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r)
	families, err := registry.Gather()
	require.NoError(t, err)
	values, series = map[string]float64{}, map[string]int{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			series[family.GetName()]++
			values[family.GetName()] += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values, series
}

// The series of a label begin at zero, and end with it.
func TestSeriesOfALabel(t *testing.T) {
	t.Parallel()
	r := NewReporter(everyType{}, &noted{})
	_, shared := samples(t, r)
	r.Begin("order", false)
	values, series := samples(t, r)
	require.Equal(t, 5, series["wakecall_attempts_total"])
	require.Zero(t, series["wakecall_link_attempts_total"], "it has one link")
	for name, value := range values {
		require.Zero(t, value, name)
	}
	r.Begin("order", true)
	_, series = samples(t, r)
	require.Equal(t, 10, series["wakecall_link_attempts_total"])
	r.End("order")
	_, series = samples(t, r)
	require.Equal(t, shared, series)
}

// Each event counts once, in the right series.
func TestWhatDeliveriesReport(t *testing.T) {
	t.Parallel()
	late := int64(7)
	for name, c := range map[string]struct {
		event func(*Reporter)
		want  map[string]float64
	}{
		"a first attempt": {func(r *Reporter) {
			r.Attempted("order", delivery.Report{Result: delivery.ResultDelivered, LatenessMS: &late}, time.Second)
		}, map[string]float64{"wakecall_attempts_total": 1, "wakecall_attempt_seconds": 1, "wakecall_lateness_seconds": 1}},
		"an attempt by a link": {func(r *Reporter) {
			r.Attempted("order", delivery.Report{Result: delivery.ResultRetry, Link: delivery.LinkFallback}, time.Second)
		}, map[string]float64{"wakecall_attempts_total": 1, "wakecall_attempt_seconds": 1, "wakecall_link_attempts_total": 1}},
		"preloaded":  {func(r *Reporter) { r.Preloaded(2); r.Preloaded(-1) }, map[string]float64{"wakecall_preloaded_timers": 1}},
		"released":   {func(r *Reporter) { r.Released(delivery.ResultInterrupted) }, map[string]float64{"wakecall_released_total": 1}},
		"come again": {func(r *Reporter) { r.Repeated() }, map[string]float64{"wakecall_repeated_total": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewReporter(everyType{}, &noted{})
			c.event(r)
			values, _ := samples(t, r)
			for metric, value := range values {
				require.Equal(t, c.want[metric], value, metric)
			}
			for metric := range c.want {
				require.Contains(t, values, metric)
			}
		})
	}
}

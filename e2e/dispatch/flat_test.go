package dispatch

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
)

// length is how long each rate is measured.
const length = 60 * time.Second

// rates are the promised rates.
var rates = []float64{50, 500, 4000}

// BenchmarkFlat measures how flat a dispatch is with two workers.
func BenchmarkFlat(b *testing.B) {
	for _, rate := range append([]float64{0.5}, rates...) {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d := deploy(b)
			d.worker()
			d.worker()
			d.policy()
			key := d.order("flat", rate, int(rate*length.Seconds())+int(2*rate)+1)
			view := d.await(key, 2*length)
			report(b, d, view, CurveOf(rate, d.arrivals()))
		})
	}
}

// BenchmarkWorkers measures the same while a second worker joins at a third, and the first
// is killed at two thirds. It records the curves if WAKECALL_CURVES is set.
func BenchmarkWorkers(b *testing.B) {
	var curves []Curve
	for _, rate := range rates {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d := deploy(b)
			first := d.worker()
			d.policy()
			key := d.order("flat", rate, int(rate*length.Seconds())+int(2*rate)+1)
			<-time.After(length / 3)
			d.worker()
			joined := time.Now()
			<-time.After(length / 3)
			killed := time.Now()
			first.Kill()
			view := d.await(key, 3*length)
			began := slices.MinFunc(d.arrivals(), time.Time.Compare)
			curve := CurveOf(rate, d.arrivals())
			curve.Events = []Event{{joined.Sub(began).Seconds(), "a second worker joins"}, {killed.Sub(began).Seconds(), "the first is killed"}}
			report(b, d, view, curve)
			curves = append(curves, curve)
		})
	}
	if os.Getenv("WAKECALL_CURVES") != "" && len(curves) == len(rates) {
		keep(b, curves)
	}
}

// BenchmarkChange measures how soon a new rate applies: the worst second, from the sixth one
// after the change on.
func BenchmarkChange(b *testing.B) {
	d := deploy(b)
	d.worker()
	d.policy()
	key := d.order("changed", 200, 30_000)
	<-time.After(10 * time.Second)
	for _, rate := range []float64{1000, 100} {
		_, _, err := d.Engine.Dispatches.Change(b.Context(), key, dispatch.Change{PerSecond: &rate}, time.Minute)
		require.NoError(b, err)
		changed := time.Now()
		<-time.After(16 * time.Second)
		arrivals := slices.DeleteFunc(d.arrivals(), func(at time.Time) bool { return at.Before(changed.Add(5 * time.Second)) })
		curve := CurveOf(rate, arrivals)
		b.Logf("%g a second, from 5 s after the change: %v", rate, curve.Seconds)
		b.ReportMetric(100*curve.Worst(), fmt.Sprintf("%%-worst-at-%g", rate))
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPatience measures how a dispatch of two workers pauses and resumes after a
// receiver's 429, which asks for three seconds.
func BenchmarkPatience(b *testing.B) {
	const rate, moment = 500, 100 * time.Millisecond
	d := deploy(b)
	d.worker()
	d.worker()
	d.policy()
	key := d.order("patience", rate, rate*30)
	<-time.After(10 * time.Second)
	asked := time.Now()
	d.mu.Lock()
	d.answer = func(string) int {
		if time.Since(asked) < moment {
			return http.StatusTooManyRequests
		}
		return http.StatusOK
	}
	d.mu.Unlock()
	view := d.await(key, 2*time.Minute)
	require.Equal(b, dispatch.Done, view.Status)
	require.Equal(b, rate*30, view.Done)
	after := slices.DeleteFunc(d.arrivals(), func(at time.Time) bool { return at.Before(asked.Add(moment)) })
	held := 0
	for _, at := range after {
		if at.Before(asked.Add(patience)) {
			held++
		}
	}
	back := slices.DeleteFunc(after, func(at time.Time) bool { return at.Before(asked.Add(patience)) })
	b.Logf("while it was to be patient %d arrived, then in each second: %v", held, CurveOf(rate, back).Seconds)
	b.ReportMetric(float64(held), "arrived-meanwhile")
	b.ReportMetric(100*CurveOf(rate, back).Worst(Window{To: 10 * time.Second}), "%-worst-after-10s")
	b.ReportMetric(0, "ns/op")
}

func report(b *testing.B, d *deployment, view dispatch.View, curve Curve) {
	b.Helper()
	excused := curve.excused()
	twice := 0
	for _, times := range d.byItem() {
		twice += times - 1
	}
	b.Logf("%g a second: %v", curve.Rate, curve.Seconds)
	b.Logf("worst second %.1f %%, uneven: %q, called more than once: %d, %s: %d done, %d failed of %d",
		100*curve.Worst(excused...), curve.Uneven(excused...), twice, view.Status, view.Done, view.Failed, *view.Items)
	b.ReportMetric(100*curve.Worst(excused...), "%-worst")
	b.ReportMetric(float64(len(curve.Uneven(excused...))), "uneven")
	b.ReportMetric(float64(twice), "twice")
	b.ReportMetric(0, "ns/op")
}

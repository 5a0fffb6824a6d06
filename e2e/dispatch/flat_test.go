package dispatch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wakecall/wakecall/timer"
)

// length is how long each rate is measured.
const length = 60 * time.Second

// BenchmarkFlat measures how flat a dispatch is with two workers.
func BenchmarkFlat(b *testing.B) {
	for _, rate := range []float64{0.5, 50, 500, 4000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d := deploy(b)
			d.worker()
			d.worker()
			d.policy()
			key := d.order("flat", rate, int(rate*length.Seconds())+int(2*rate)+1)
			view := d.await(key, 2*length)
			report(b, d, view)
		})
	}
}

// BenchmarkWorkers measures the same while a second worker joins and the first is killed.
func BenchmarkWorkers(b *testing.B) {
	for _, rate := range []float64{50, 500, 4000} {
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
			around := func(at time.Time) Window { return Window{at.Sub(began) - 2*time.Second, at.Sub(began) + 2*time.Second} }
			report(b, d, view, around(joined), around(killed))
		})
	}
}

func report(b *testing.B, d *deployment, view timer.DispatchView, excused ...Window) {
	b.Helper()
	rate := view.PerSecond
	curve := CurveOf(rate, d.arrivals())
	twice := 0
	for _, times := range d.byItem() {
		twice += times - 1
	}
	b.Logf("%g a second: %v", rate, curve.Seconds)
	b.Logf("worst second %.1f %%, uneven: %q, called more than once: %d, %s: %d done, %d failed of %d",
		100*curve.Worst(excused...), curve.Uneven(excused...), twice, view.Status, view.Done, view.Failed, *view.Items)
	b.ReportMetric(100*curve.Worst(excused...), "%-worst")
	b.ReportMetric(float64(len(curve.Uneven(excused...))), "uneven")
	b.ReportMetric(float64(twice), "twice")
	b.ReportMetric(0, "ns/op")
}

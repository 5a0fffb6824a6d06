package operations

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// BenchmarkBulk moves many timers in one job, and measures what it takes of the worker that
// carries it out: its memory must not grow with them.
func BenchmarkBulk(b *testing.B) {
	for _, n := range []int{1000, 30_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			addr := testenv.Alone(b)
			env, metrics := testenv.Open(b, addr), loopback.Addr()
			worker := process.Start(b, process.Command{
				Path: process.WakecallBinary(b), Args: []string{"worker"}, Ready: "http://" + metrics + "/livez",
				Env: map[string]string{
					"TEMPORAL_ADDRESS": addr, "WAKECALL_METRICS_ADDR": metrics,
					"WAKECALL_SECRET_KEY": testenv.Settings().SecretKey, "WAKECALL_LOG_LEVEL": "error",
				},
			})
			const kind = "many"
			env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": "http://127.0.0.1:9000/"}})
			api := client.New(client.Options{URL: env.URL})
			sample.BookMany(b, api, kind, n)
			before, began := worker.PeakMemory(), time.Now()
			j, _, err := api.Bulk.Start(b.Context(), client.BulkOrder{
				Operation: job.Move, Shift: wire.Duration(time.Hour), Filter: timer.Filter{BusinessType: kind}, PerSecond: 1000,
			})
			require.NoError(b, err)
			require.Eventually(b, func() bool {
				j, err = api.Bulk.Get(b.Context(), j.ID)
				return err == nil && j.Ended()
			}, 10*time.Minute, 100*time.Millisecond, "the job ends")
			require.Equal(b, []any{job.Done, n}, []any{j.Status, j.Done})
			b.ReportMetric(float64(n)/time.Since(began).Seconds(), "timers/s")
			b.ReportMetric(float64(worker.PeakMemory()-before)/(1<<20), "MB-more")
			b.ReportMetric(float64(worker.PeakMemory())/(1<<20), "MB-peak")
			b.ReportMetric(0, "ns/op")
		})
	}
}

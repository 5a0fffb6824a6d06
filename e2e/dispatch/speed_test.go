package dispatch

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// BenchmarkSpeed measures how many items a second leave, with the receiver on the same
// machine, and their cost: transitions of Temporal for an item, memory and disk. In the
// standalone form one process does all of it.
func BenchmarkSpeed(b *testing.B) {
	for _, c := range []struct {
		form      string
		perSecond float64
		items     int
	}{{"standalone", 4000, 120_000}, {"standalone", 8000, 240_000}, {"standalone", 8000, 1_000_000}, {"worker", 8000, 1_000_000}} {
		b.Run(fmt.Sprintf("%s-%g-%d", c.form, c.perSecond, c.items), func(b *testing.B) {
			d, whole, dir := form(b, c.form)
			d.policy()
			began := time.Now()
			key := d.order("speed", c.perSecond, c.items)
			b.Logf("stored in %s", time.Since(began).Round(time.Millisecond))
			stored := size(b, dir)
			view := d.await(key, 10*time.Minute)
			require.Equal(b, dispatch.Done, view.Status)
			require.Len(b, d.byItem(), c.items)
			arrivals := d.arrivals()
			took := slices.MaxFunc(arrivals, time.Time.Compare).Sub(slices.MinFunc(arrivals, time.Time.Compare))
			b.Logf("%v", CurveOf(c.perSecond, arrivals).Seconds)
			b.ReportMetric(float64(c.items)/took.Seconds(), "items/s")
			b.ReportMetric(float64(transitions(b, d, view))/float64(c.items), "transitions/item")
			b.ReportMetric(float64(whole.PeakMemory())/(1<<20), "MB-peak")
			b.ReportMetric(float64(stored)/(1<<20), "MB-disk")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// form is a standalone Wakecall, or a Temporal in this process and a worker beside it: the
// measured process, and the directory of all data.
func form(b *testing.B, name string) (d *deployment, measured *process.Process, dir string) {
	if name == "worker" {
		dir = b.TempDir()
		d = deployIn(b, dir)
		return d, d.worker(), dir
	}
	env := process.NewStandalone(b)
	env.Env["WAKECALL_CALLBACK_ALLOW"], env.Env["WAKECALL_SECRET_KEY"] = "127.0.0.0/8", testenv.Settings().SecretKey
	measured = env.Start()
	d = &deployment{t: b, sink: newSink(b)}
	d.Env = testenv.Open(b, env.Addr("WAKECALL_TEMPORAL_ADDR"))
	return d, measured, env.Dir
}

// transitions counts those of a dispatch's workflows, including two for each of its pages.
func transitions(t testing.TB, d *deployment, view dispatch.View) (total int64) {
	ids := []string{workflows.DispatchWorkflowID(view.Key)}
	for shard := range view.Memo.Shards {
		ids = append(ids, workflows.DispatchShardID(view.Memo.ID(), 0, shard))
	}
	for _, id := range ids {
		described, err := d.Client.DescribeWorkflowExecution(context.Background(), id, "")
		require.NoError(t, err)
		total += described.GetWorkflowExecutionInfo().GetStateTransitionCount()
	}
	return total + 2*int64(*view.Items/1000+1)
}

// size is the size of a directory in bytes.
func size(t testing.TB, dir string) (total int64) {
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return nil
	}))
	return total
}

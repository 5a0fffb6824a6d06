package programs

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// Whoever is killed while a bulk job moves timers: each is moved, and once. What the job had moved by then
// matches its filter still.
func TestKilledWhileABulkJobRuns(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"as it begins": true, "in the middle": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killWhileABulkJobRuns(t, early)
		})
	}
}

// killWhileABulkJobRuns kills the process as soon as the first timer is moved, or in the middle.
func killWhileABulkJobRuns(t *testing.T, early bool) {
	t.Helper()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	victim := env.Start()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}})
	const timers = 200
	crashes := 1
	if process.Long() {
		crashes = 2
	}
	due, api := sample.BookMany(t, env.Client(), kind, timers), env.Client()
	listed := map[string]string{}
	for id := range due {
		listed[id] = "scheduled"
	}
	env.AwaitList(kind, listed)
	shift := wire.Duration(time.Hour)
	j, _, err := api.Bulk.Start(t.Context(), client.BulkOrder{
		ID: "killed", Operation: job.Move, Shift: shift, Filter: timer.Filter{BusinessType: kind}, PerSecond: 50,
	})
	require.NoError(t, err)
	moved := func(n int) client.BulkJob { // or it has ended; all are moved before it has
		var now client.BulkJob
		require.Eventually(t, func() bool {
			var err error
			now, err = api.Bulk.Get(t.Context(), j.ID)
			return err == nil && (n < timers && now.Done >= n || now.Ended())
		}, 3*process.Patience, process.Interval, "the job goes on") // half a minute after a crash, on a machine at rest
		return now
	}
	latest := slices.Max(slices.Collect(maps.Values(due)))
	for n := range crashes {
		if early {
			require.Eventually(t, func() bool {
				for _, err := range api.Timers.List(t.Context(), client.Filter{BusinessType: kind, DueFrom: latest.Time().Add(time.Millisecond)}) {
					return err == nil
				}
				return false
			}, process.Patience, 10*time.Millisecond, "the job begins")
		} else {
			moved((n + 1) * timers / (crashes + 2))
		}
		victim.Kill()
		victim = env.Start()
	}
	ended := moved(timers)
	require.Equal(t, []any{job.Done, timers, 0, 0}, []any{ended.Status, ended.Done, ended.Skipped, ended.Failed})
	results := 0
	for line, err := range api.Bulk.Results(t.Context(), j.ID) {
		require.NoError(t, err)
		require.Contains(t, []job.Result{job.ResultDone, job.ResultPending}, line.Result, "no worker may have been there to confirm it")
		results++
	}
	require.Equal(t, timers, results)
	for id, before := range due {
		var shown contract.Timer
		require.Eventually(t, func() bool {
			shown = env.Get(kind + "/" + id)
			return shown.Revision > 1
		}, process.Patience, process.Interval, "a worker takes the last signals as well")
		require.Equal(t, before.Add(time.Hour).Time(), shown.DueAt.UTC(), "%s is moved once", id)
		require.Equal(t, 2, shown.Revision)
	}
}

package dispatch

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// complete compares a dispatch with the receiver's log, item by item. None is missing.
// Repeated items were under way, and are no more than fit between two heartbeats.
func complete(t *testing.T, d *deployment, view dispatch.View, crashes int) {
	t.Helper()
	times := d.byItem()
	twice := 0
	for _, n := range times {
		twice += n - 1
	}
	t.Logf("%d items, %d of them twice: %+v", len(times), twice, view.Status)
	require.Equal(t, dispatch.Done, view.Status)
	require.Len(t, times, *view.Items, "none is skipped")
	require.Equal(t, len(times), view.Done, "and each is counted once")
	require.Zero(t, view.Failed)
	require.LessOrEqual(t, twice, crashes*int(view.PerSecond), "no more than a second's worth for each crash")
}

// At every kill, each item is called under one id.
func TestAWorkerIsKilled(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	workers := []*process.Process{d.worker(), d.worker()}
	d.policy()
	key := d.order("killed", 500, 4000)
	const crashes = 3
	for range crashes {
		<-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
		at := rand.IntN(len(workers))
		workers[at].Kill()
		workers[at] = workers[at].Again()
	}
	complete(t, d, d.await(key, 2*time.Minute), crashes)
}

// A worker that stops hands its shards on, and repeats nothing.
func TestARollingUpdate(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	workers := []*process.Process{d.worker(), d.worker()}
	d.policy()
	key := d.order("rolling", 500, 4000)
	for at, old := range workers {
		<-time.After(time.Second)
		workers[at] = d.worker()
		require.Zero(t, old.Stop())
	}
	complete(t, d, d.await(key, 2*time.Minute), 0)
}

// An emergency pause of a type or of everything takes effect within 10 s, and the dispatch
// goes on when it is over.
func TestAnEmergency(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	d.worker()
	d.policy()
	const items = 2500
	key := d.order("emergency", 200, items)
	for _, order := range []policy.EmergencyOrder{{Everything: true}, {BusinessTypes: []string{kind}}} {
		before := len(d.arrivals())
		require.Eventually(t, func() bool { return len(d.arrivals()) > before+50 }, testenv.Patience, 50*time.Millisecond, "it runs")
		_, err := d.Engine.Emergencies.Pause(t.Context(), order)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			arrivals := d.arrivals()
			return time.Since(arrivals[len(arrivals)-1]) > time.Second
		}, testenv.Patience, 50*time.Millisecond, "nothing comes any more")
		require.Less(t, len(d.arrivals()), items, "and it has not ended")
		_, err = d.Engine.Emergencies.Resume(t.Context(), order)
		require.NoError(t, err)
	}
	complete(t, d, d.await(key, 2*time.Minute), 0)
}

// Everything is killed at once, Temporal included, and started again.
func TestEverythingIsKilled(t *testing.T) {
	t.Parallel()
	env := process.NewStandalone(t)
	env.Env["WAKECALL_CALLBACK_ALLOW"], env.Env["WAKECALL_SECRET_KEY"] = "127.0.0.0/8", testenv.Settings().SecretKey
	whole := env.Start()
	d := &deployment{t: t, sink: newSink(t)}
	d.Env = testenv.Open(t, env.Addr("WAKECALL_TEMPORAL_ADDR"))
	d.policy()
	key := d.order("everything", 300, 2500)
	const crashes = 2
	for range crashes {
		<-time.After(time.Duration(1000+rand.IntN(1500)) * time.Millisecond)
		whole.Kill()
		whole = whole.Again()
	}
	complete(t, d, d.await(key, 3*time.Minute), crashes)
	_, err := d.Engine.Dispatches.Get(context.Background(), key)
	require.NoError(t, err)
}

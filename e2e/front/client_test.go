package front

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// The Go client makes every call that it has on a running Wakecall.
func TestTheGoClient(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	ctx, wakecall := t.Context(), client.New(client.Options{URL: env.URL, HTTP: contract.Calls(t)})
	named := func(id string) wire.Key { return wire.Key{BusinessType: kind, BusinessID: id} }
	_, err := wakecall.Policies.Get(ctx, kind)
	require.Equal(t, wire.NotFound, testenv.CodeOf(t, err))
	document := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{}}}
	planned, err := wakecall.Policies.Plan(ctx, kind, document)
	require.NoError(t, err)
	require.True(t, planned.Created)
	policy, err := wakecall.Policies.Put(ctx, kind, document, 0)
	require.NoError(t, err)
	_, err = wakecall.Policies.Put(ctx, kind, document, client.Match(policy.Version+1))
	require.Equal(t, wire.PreconditionFailed, testenv.CodeOf(t, err))
	policy, err = wakecall.Policies.Patch(ctx, kind, testenv.JSON{"priority": 2}, client.Match(policy.Version))
	require.NoError(t, err)
	require.Equal(t, 2, policy.Priority)
	shown, err := wakecall.Policies.Get(ctx, kind)
	require.NoError(t, err)
	require.Equal(t, policy.Version, shown.Version)
	_, err = wakecall.Policies.List(ctx, client.PolicyFilter{})
	require.NoError(t, err)

	booking := client.Booking{Key: named("1"), Terms: client.Terms{Delay: client.After(time.Hour), Payload: client.JSON(testenv.JSON{"n": 1})}}
	view, created, err := wakecall.Timers.Add(ctx, booking)
	require.NoError(t, err)
	require.True(t, created)
	_, created, err = wakecall.Timers.Add(ctx, booking)
	require.NoError(t, err)
	require.False(t, created)
	moved, pending, err := wakecall.Timers.Patch(ctx, view.Key, client.Terms{Delay: client.After(2 * time.Hour)}, client.After(30*time.Second))
	require.NoError(t, err)
	require.False(t, pending)
	require.Greater(t, moved.DueAt, view.DueAt)
	_, _, err = wakecall.Timers.Put(ctx, client.Booking{Key: view.Key, Terms: client.Terms{Delay: client.After(time.Hour)}}, nil)
	require.NoError(t, err)
	_, _, err = wakecall.Timers.Fire(ctx, view.Key, client.After(30*time.Second))
	require.NoError(t, err)
	r.Await(t, "1", 1)
	env.Await(kind+"/1", "delivered")
	_, _, err = wakecall.Timers.Cancel(ctx, view.Key, nil)
	require.Equal(t, wire.AlreadyFinished, testenv.CodeOf(t, err))

	r.On("/gone", receiver.Status(http.StatusGone))
	added, err := wakecall.Timers.AddBatch(ctx, []client.Booking{
		{Key: named("2"), Terms: client.Terms{Delay: client.After(0), Callback: &delivery.Callback{Destination: delivery.HTTP(r.URL + "/gone")}}},
		{Key: named("3"), Terms: client.Terms{Recurrence: &recurrence.Rule{Every: client.After(time.Hour)}}},
		{Key: named("not an id"), Terms: client.Terms{Delay: client.After(0)}},
	})
	require.NoError(t, err)
	require.Equal(t, []int{201, 201, 422}, []int{added[0].Status, added[1].Status, added[2].Status})
	require.Equal(t, wire.InvalidRequest, added[2].Problem.Code())
	env.Await(kind+"/2", "failed")
	_, err = wakecall.Timers.Redeliver(ctx, named("2"))
	require.NoError(t, err)
	_, _, err = wakecall.Timers.Pause(ctx, named("3"), "closed")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		paused, err := wakecall.Timers.Get(ctx, named("3"))
		require.NoError(t, err)
		return paused.Note == "closed"
	}, testenv.Patience, testenv.Interval, "a busy machine takes longer than the call waits")
	_, _, err = wakecall.Timers.Resume(ctx, named("3"), "")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		upcoming, err := wakecall.Timers.Upcoming(ctx, named("3"), 5)
		require.NoError(t, err)
		return len(upcoming.Times) == 5
	}, testenv.Patience, testenv.Interval, "and so is it with the resume")
	r.AwaitTo(t, "/gone", 2)
	env.Await(kind+"/2", "failed")
	require.Eventually(t, func() bool {
		ids := map[string]bool{}
		for view, err := range wakecall.Timers.List(ctx, client.Filter{BusinessType: kind}) {
			require.NoError(t, err)
			ids[view.BusinessID] = true
		}
		return len(ids) == 3
	}, testenv.Patience, testenv.Interval, "a list lags behind by a moment")
	require.NoError(t, wakecall.Policies.Delete(ctx, kind, "keep"))
	_, _, err = wakecall.Timers.Cancel(ctx, named("3"), nil)
	require.NoError(t, err)
}

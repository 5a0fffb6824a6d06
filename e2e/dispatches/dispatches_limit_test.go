package dispatches

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// The limit of a type holds for its timers and for all of its dispatches together,
// as the receiver sees it.
func TestALimitHoldsForDispatchesAndTimersTogether(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	const kind, limit = "d-limit", 60.0
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"callbacks_per_second": limit}})
	for _, id := range []string{"a", "b"} {
		_, _, err := env.Engine.Dispatches.Add(t.Context(), mass(kind, id, limit), dispatchItems(1000))
		require.NoError(t, err)
	}
	var timers []testenv.JSON
	for n := range 200 {
		timers = append(timers, testenv.JSON{"business_type": kind, "business_id": fmt.Sprint("t-", n), "delay": "3s"})
	}
	require.Equal(t, 200, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": timers}).Status)
	count := func() (each map[string]int) {
		each = map[string]int{}
		for _, call := range r.All() {
			each[call.Header.Get("Wakecall-Dispatch")]++
		}
		return each
	}
	require.Eventually(t, func() bool {
		each := count()
		return each["a"] > 100 && each["b"] > 100 && each[""] > 50
	}, testenv.Patience, 100*time.Millisecond, "each of them has a part of it")
	for _, id := range []string{"a", "b"} {
		_, _, err := env.Engine.Dispatches.Cancel(t.Context(), mass(kind, id, limit).Key, wait)
		require.NoError(t, err)
	}
	calls := r.All()
	slices.SortFunc(calls, func(a, b receiver.Call) int { return a.At.Compare(b.At) })
	for first, last := 0, 0; last < len(calls); last++ { // in no ten seconds more than docs/policies.md says
		for calls[last].At.Sub(calls[first].At) > 10*time.Second {
			first++
		}
		require.LessOrEqual(t, last-first+1, int(1.05*10*limit+limit))
	}
	require.Eventually(t, func() bool { return count()[""] == 200 }, testenv.Patience, 100*time.Millisecond,
		"the whole limit is the timers' again")
}

package operations

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// foundBy are the ids that the Go client lists.
func foundBy(t *testing.T, env *testenv.Env, filter wakecall.Filter) (ids []string) {
	for view, err := range env.Wakecall().Timers.List(t.Context(), filter) {
		require.NoError(t, err)
		ids = append(ids, view.BusinessID)
	}
	return ids
}

// pages are the timers of all pages of a list.
func pages(env *testenv.Env, query url.Values) (views []timer.View) {
	for more := true; more; {
		var page struct {
			Timers []timer.View
			Next   string `json:"next_page_token"`
		}
		env.Do("GET", "/v1/timers?"+query.Encode(), nil).Into(&page)
		views, more = append(views, page.Timers...), page.Next != ""
		query.Set("page_token", page.Next)
	}
	return views
}

// awaitFound waits for visibility, which lags behind.
func awaitFound(t *testing.T, env *testenv.Env, filter wakecall.Filter, want ...string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.ElementsMatch(c, want, foundBy(t, env, filter))
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
}

// rackOf has a timer of every status.
func rackOf(t *testing.T) (env *testenv.Env, kind string) {
	env, r, kind := testenv.Start(t)
	busy, hour := r.On("/busy", receiver.Status(503)), testenv.JSON{"steps": []string{"1h"}}
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	for id, more := range map[string]testenv.JSON{
		"soon":       {"delay": "1h"},
		"later":      {"delay": "3h"},
		"delivered":  {},
		"failed":     {"callback": testenv.JSON{"url": busy}, "retry": testenv.JSON{"steps": []string{"10ms"}}},
		"delivering": {"callback": testenv.JSON{"url": busy}, "retry": hour},
		"expired":    {"callback": testenv.JSON{"url": busy}, "retry": hour, "expires_after": "100ms"},
		"cancelled":  {"delay": "2h"},
	} {
		body := testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"}
		maps.Copy(body, more)
		env.Add(body)
	}
	env.Add(sample.Repeating(kind, "paused", testenv.JSON{"every": "24h", "paused": true}))
	require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil).Status)
	for _, status := range []string{"delivered", "failed", "expired"} {
		env.Await(kind+"/"+status, status)
	}
	return env, kind
}

// What Temporal's visibility lists is what a filter asks for: timers of one status, due or ended
// at some time, in the order of their due times. Each shows how far it is, and they are counted.
func TestTimersAreListedAndCounted(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Second)
	env, kind := rackOf(t)
	at := func(moment time.Time) string { return moment.UTC().Format(time.RFC3339Nano) }
	later, cancelled := env.Get(kind+"/later").DueAt, env.Get(kind+"/cancelled").DueAt
	for query, want := range map[string][]string{
		"":                                       {"soon", "later", "delivered", "failed", "cancelled", "delivering", "expired", "paused"},
		"status=scheduled":                       {"soon", "later"},
		"status=paused":                          {"paused"},
		"business_id=late":                       nil,
		"status=delivered":                       {"delivered"},
		"status=failed":                          {"failed"},
		"status=cancelled":                       {"cancelled"},
		"status=delivering":                      {"delivering"},
		"status=expired":                         {"expired"},
		"business_id=failed":                     {"failed"},
		"recurring=true":                         {"paused"},
		"status=scheduled&due_from=" + at(later): {"later"},
		"status=cancelled&due_to=" + at(cancelled):                             {"cancelled"},
		"status=cancelled&due_to=" + at(cancelled.Add(-time.Millisecond)):      nil,
		"ended_from=" + at(began) + "&ended_to=" + at(time.Now()):              {"delivered", "failed", "expired", "cancelled"},
		"ended_to=" + at(began):                                                nil,
		"sort=due&due_from=" + at(time.Now().Add(time.Hour/2)):                 {"soon", "cancelled", "later", "paused"},
		"sort=-due&page_size=1&due_to=" + at(later) + "&due_from=" + at(later): {"later"},
	} {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			filter, err := url.ParseQuery(query)
			require.NoError(t, err)
			filter.Set("business_type", kind)
			var ids []string
			for _, view := range pages(env, filter) {
				ids = append(ids, view.BusinessID)
			}
			require.ElementsMatch(c, want, ids, query)
		}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	}
	for _, sort := range []string{"due", "-due"} {
		views := pages(env, url.Values{"business_type": {kind}, "sort": {sort}, "page_size": {"3"}})
		require.Len(t, views, 8, "each once")
		require.True(t, slices.IsSortedFunc(views, func(a, b timer.View) int {
			return map[string]int{"due": 1, "-due": -1}[sort] * cmp.Compare(a.DueAt, b.DueAt)
		}))
	}
	for _, view := range pages(env, url.Values{"business_type": {kind}}) {
		if view.Status != timer.Expired { // it may have come too late for its first attempt
			require.Equal(t, map[string]int{"delivered": 1, "failed": 2, "delivering": 1}[view.BusinessID], view.Attempts, view.BusinessID)
		}
	}
	want := timer.StatusCounts{Scheduled: 2, Paused: 1, Delivering: 1, Delivered: 1, Failed: 1, Expired: 1, Cancelled: 1}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		stats, err := env.Wakecall().Timers.Stats(t.Context(), kind)
		require.NoError(c, err)
		require.Equal(c, want, stats.Timers)
	}, testenv.Patience, 100*time.Millisecond, "counts are given again for a moment")
	all, err := env.Wakecall().Timers.Stats(t.Context(), "")
	require.NoError(t, err)
	require.Contains(t, all.BusinessTypes, timer.TypeStats{BusinessType: kind, Timers: want})
}

package e2e

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Temporal can lose a workflow's timer without a word (temporal#11869). Here it
// is taken away behind the server's back. Without a reconciler such timers never
// ring; with it all of them do, each of them once.
func TestLostTimersAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr, stop, err := testenv.Temporal(dir)
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), typeOf(t)
	env.StartWorker() // it has no reconciler
	const lost = 20
	r.On("/flaky", receiver.FailFirst(2))
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL}, "alert": testenv.JSON{"url": r.URL + "/alert"}, "retry": testenv.JSON{"steps": []string{"10ms", "7s"}},
	})
	env.Add(booking(kind, "retrying", "0s", r.URL+"/flaky"))
	require.Eventually(t, func() bool {
		shown := env.Get(kind + "/retrying")
		return shown.Attempts == 2 && shown.NextAttemptAt.After(time.Now())
	}, testenv.Patience, 10*time.Millisecond, "the backoff is Temporal's")
	env.AddMany(kind, lost, 6*time.Second)
	taken := takeTimers(t, filepath.Join(dir, "main.db"))
	require.GreaterOrEqual(t, taken, int64(lost+1))
	env.Add(booking(kind, "control", "8s", r.URL))
	r.Await(t, "control", 1)
	require.Len(t, r.All(), 3, "nothing but two attempts of one, and the control")
	lateness := env.Get(kind + "/retrying").LatenessMS

	settings := testenv.Settings()
	settings.ReconcileInterval = time.Second
	testenv.OpenWith(t, addr, settings).StartWorker()
	env.AwaitAll(kind, lost, "delivered")
	retried := env.Await(kind+"/retrying", "delivered")
	require.Equal(t, 3, retried.Attempts, "it goes on where it was")
	require.Equal(t, lateness, retried.LatenessMS)
	require.Equal(t, "3", r.Calls("retrying")[2].Header.Get("Wakecall-Attempt"))
	for _, id := range []string{"0", "7", "19"} {
		require.Len(t, r.Calls(id), 1)
	}
	require.Len(t, r.Calls("retrying"), 3)
	r.AwaitTo(t, "/alert", 1)
	_, events := alerts(t, r, "timers.overdue")
	require.NotEmpty(t, events)
	require.Equal(t, http.StatusOK, env.Do("GET", "/v1/timers/"+kind+"/0", nil).Status)
}

// takeTimers deletes what Temporal would have been woken by.
func takeTimers(t *testing.T, file string) (taken int64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	result, err := db.Exec("DELETE FROM timer_tasks")
	require.NoError(t, err)
	taken, err = result.RowsAffected()
	require.NoError(t, err)
	return taken
}

package e2e

import (
	"database/sql"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// punctual is how late a timer may be here: the machine is shared, and what leans on
// visibility is later by five seconds at the least.
const punctual = 3 * time.Second

// Visibility serves lists and nothing else: while its store is locked Wakecall starts,
// books, rings, retries, and polls the queues of new types, of old ones, and of those
// whose retries were left by a worker that is gone.
func TestNothingButListsNeedsVisibility(t *testing.T) { // it breaks its Temporal
	t.Parallel()
	dir := t.TempDir()
	addr, stop, err := testenv.Temporal(dir)
	require.NoError(t, err)
	t.Cleanup(stop)
	r, kind := receiver.New(t), typeOf(t)
	flaky := testenv.JSON{"callback": testenv.JSON{"url": r.On("/flaky", receiver.FailFirst(1))}, "retry": testenv.JSON{"steps": []string{"1s"}}}
	slow := testenv.JSON{"callback": testenv.JSON{"url": r.On("/slow", receiver.FailFirst(1))}, "retry": testenv.JSON{"steps": []string{"6s"}}}

	before := testenv.Open(t, addr)
	before.StartWorker()
	before.Policy(kind+".left", slow)
	before.Add(testenv.JSON{"business_type": kind + ".left", "business_id": "left", "delay": "0s"})
	r.AwaitTo(t, "/slow", 1)
	lock(t, dir)
	before.StopWorker()

	began := time.Now()
	env := testenv.Open(t, addr)
	env.StartWorker()
	require.Less(t, time.Since(began), punctual, "Wakecall starts")
	env.Policy(kind, flaky)
	env.Add(booking(kind+".none", "without", "1s", r.URL))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "with", "delay": "1s"})
	without, with := env.Await(kind+".none/without", "delivered"), env.Await(kind+"/with", "delivered")
	require.Less(t, without.DeliveredAt.Sub(without.DueAt), punctual)
	require.Equal(t, 2, with.Attempts, "the queue of a new type is polled")
	require.Less(t, with.DeliveredAt.Sub(with.DueAt), time.Second+punctual)
	left := env.Await(kind+".left/left", "delivered")
	require.Equal(t, 2, left.Attempts, "a retry that another worker left")
	require.Less(t, left.DeliveredAt.Sub(left.DueAt), 6*time.Second+punctual)

	env.Policy(kind+".none", flaky)
	env.Policy(kind+".quota", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"pending": 100}})
	var booking sync.WaitGroup
	booking.Go(func() {
		assert.Equal(t, http.StatusServiceUnavailable, env.Do("DELETE", "/v1/policies/"+kind+".none", nil).Status, "in doubt nothing is deleted")
	})
	for n := range 12 {
		booking.Go(func() {
			began := time.Now()
			reply := env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind + ".quota", "business_id": strconv.Itoa(n), "delay": "1h"})
			assert.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
			assert.Less(t, time.Since(began), punctual)
		})
	}
	booking.Wait()
	require.Equal(t, http.StatusServiceUnavailable,
		env.Do("GET", "/v1/timers?"+url.Values{"business_type": {kind}}.Encode(), nil).Status, "the fault is real")
}

// lock keeps everybody else from the visibility store until the test has ended.
func lock(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "visibility.db")+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1) // the transaction stays on it
	_, err = db.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.Exec("ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	})
}

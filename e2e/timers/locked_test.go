package timers

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Visibility serves lists and nothing else: while its store is locked, and who asks
// visibility hears nothing, Wakecall starts, books, rings, retries, and polls the queues of
// new types, of old ones, and of those whose retries were left by a worker that is gone.
func TestNothingButListsNeedsVisibility(t *testing.T) { // it breaks its Temporal
	t.Parallel()
	dir := t.TempDir()
	addr := testenv.AloneIn(t, dir)
	r, kind := receiver.New(t), sample.Type(t)
	flaky := testenv.JSON{"callback": testenv.JSON{"url": r.On("/flaky", receiver.FailFirst(1))}, "retry": testenv.JSON{"steps": []string{"1s"}}}
	slow := testenv.JSON{"callback": testenv.JSON{"url": r.On("/slow", receiver.FailFirst(1))}, "retry": testenv.JSON{"steps": []string{"6s"}}}

	before := testenv.Open(t, addr)
	before.StartWorker()
	before.Policy(kind+".left", slow)
	before.Add(testenv.JSON{"business_type": kind + ".left", "business_id": "left", "delay": "0s"})
	r.AwaitTo(t, "/slow", 1)
	lock(t, dir)
	before.StopWorker()

	var silence visibilitySilence
	env := testenv.OpenThrough(t, addr, testenv.Settings(), silence.begin())
	t.Cleanup(silence.end)
	env.StartWorker()
	env.Policy(kind, flaky)
	env.Add(sample.Booking(kind+".none", "without", "1s", r.URL))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "with", "delay": "1s"})
	without, with := env.Await(kind+".none/without", "delivered"), env.Await(kind+"/with", "delivered")
	require.Equal(t, []int{1, 2}, []int{without.Attempts, with.Attempts}, "the queue of a new type is polled")
	left := env.Await(kind+".left/left", "delivered")
	require.Equal(t, 2, left.Attempts, "a retry that another worker left")

	env.Policy(kind+".none", flaky)
	env.Policy(kind+".quota", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"pending": 100}})
	var booking sync.WaitGroup
	for n := range 12 {
		booking.Go(func() {
			reply := env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind + ".quota", "business_id": strconv.Itoa(n), "delay": "1h"})
			assert.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
		})
	}
	booking.Wait()
	require.Positive(t, silence.asked.Load(), "somebody would have liked to know")
	require.Equal(t, http.StatusServiceUnavailable, before.Do("DELETE", "/v1/policies/"+kind+".none", nil).Status, "in doubt nothing is deleted")
	require.Equal(t, http.StatusServiceUnavailable,
		before.Do("GET", "/v1/timers?"+url.Values{"business_type": {kind}}.Encode(), nil).Status, "the fault is real")
}

// visibilitySilence lets nobody hear from visibility until it ends, however long they would
// wait.
type visibilitySilence struct {
	asked atomic.Int64
	end   func()
}

func (s *visibilitySilence) begin() grpc.UnaryClientInterceptor {
	over, end := context.WithCancel(context.Background())
	s.end = end
	return func(
		ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		switch request.(type) {
		case *workflowservice.ListWorkflowExecutionsRequest, *workflowservice.CountWorkflowExecutionsRequest:
			s.asked.Add(1)
			<-over.Done()
		}
		return invoke(ctx, method, request, reply, conn, options...)
	}
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

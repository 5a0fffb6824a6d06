package failover

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A cancel comes while the worker that has taken a timer over makes the attempt. The answer is that for
// any other attempt under way: the receiver decides.
func TestCancelledDuringTheAttemptAfterATakeover(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		addr := testenv.Alone(t)
		dead, die := startDying(t, addr)
		env, r := testenv.Open(t, addr), receiver.New(t)
		type ending struct {
			says, answered int
			status         string
		}
		endings := map[string]ending{} // by type and id
		decided := make(chan struct{})
		decide := sync.OnceFunc(func() { close(decided) })
		defer decide()
		for _, e := range []ending{
			{http.StatusOK, http.StatusConflict, "delivered"},
			{http.StatusServiceUnavailable, http.StatusOK, "cancelled"},
		} {
			kind := sample.Type(t)
			endings[kind] = e
			url := r.On("/"+kind, func(w http.ResponseWriter, _ *http.Request, _ int) {
				<-decided
				w.WriteHeader(e.says)
			})
			env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url, "timeout": "30s"}, "preload": "1m", "retry": testenv.JSON{"steps": []string{"10ms"}}})
			dead.Add(testenv.JSON{"business_type": kind, "business_id": kind, "delay": "5s"})
			require.Eventually(t, func() bool { return dead.WithWorker(kind + "/" + kind) }, testenv.Patience, testenv.Interval, "the worker that dies has it")
		}
		die()
		env.StartWorker()
		answers := map[string]chan int{}
		for kind := range endings {
			r.Await(t, kind, 1)
			answer := make(chan int, 1)
			answers[kind] = answer
			go func() { answer <- env.Do("DELETE", "/v1/timers/"+kind+"/"+kind, nil).Status }()
			require.Eventually(t, func() bool { return env.Get(kind + "/" + kind).CancelRequested }, testenv.Patience, testenv.Interval, "the cancel is durable")
		}
		decide()
		for kind, e := range endings {
			require.Equal(t, e.answered, <-answers[kind], e.status)
			ended := env.Await(kind+"/"+kind, e.status)
			require.Equal(t, 1, ended.Attempts)
			require.Len(t, r.Calls(kind), 1, "it comes to no other attempt")
		}
	})
}

package dispatch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// arrival is an item that reached the receiver.
type arrival struct {
	item string
	at   time.Time
}

// sink is a receiver that does as little as possible.
type sink struct {
	url    string
	mu     sync.Mutex
	came   []arrival
	answer func(item string) int
}

func newSink(t testing.TB) *sink {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &sink{url: "http://" + listener.Addr().String() + "/"}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now, item := time.Now(), r.Header.Get("Wakecall-Business-Id")
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	s.came = append(s.came, arrival{item, now})
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		return
	}
	status := answer(item)
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(int(patience.Seconds())))
	}
	w.WriteHeader(status)
}

func (s *sink) arrivals() (all []time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.came {
		all = append(all, a.at)
	}
	return all
}

// byItem is how often each item came.
func (s *sink) byItem() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := map[string]int{}
	for _, a := range s.came {
		times[a.item]++
	}
	return times
}

// deployment is a Temporal in this process, with workers as separate processes.
type deployment struct {
	*testenv.Env
	t    testing.TB
	addr string
	*sink
}

const kind = "mass"

// patience is the Retry-After of the receiver's 429.
const patience = 3 * time.Second

func deploy(t testing.TB) *deployment { return deployIn(t, t.TempDir()) }

func deployIn(t testing.TB, dir string) *deployment {
	addr := testenv.AloneIn(t, dir)
	d := &deployment{t: t, addr: addr, sink: newSink(t)}
	d.Env = testenv.Open(t, addr)
	return d
}

// policy puts the policy once a worker runs.
func (d *deployment) policy() {
	d.Policy(kind, contract.JSON{
		"callback": contract.JSON{"url": d.url}, "signing_secrets": []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		"retry": contract.JSON{"steps": []string{"2s", "5s"}},
	})
}

func (d *deployment) worker() *process.Process {
	metrics := loopback.Addr()
	return process.Start(d.t, process.Command{
		Path: process.WakecallBinary(d.t), Args: []string{"worker"}, Ready: "http://" + metrics + "/livez",
		Env: map[string]string{
			"TEMPORAL_ADDRESS": d.addr, "WAKECALL_CALLBACK_ALLOW": "127.0.0.0/8", "WAKECALL_METRICS_ADDR": metrics,
			"WAKECALL_SECRET_KEY": testenv.Settings().SecretKey, "WAKECALL_LOG_LEVEL": "error",
		},
	})
}

// order uploads n items, and starts the dispatch.
func (d *deployment) order(id string, perSecond float64, n int) wire.Key {
	ctx, dispatches := context.Background(), d.Engine.Dispatches
	order := dispatch.Dispatch{Key: wire.Key{BusinessType: kind, BusinessID: id}, PerSecond: perSecond}
	_, _, err := dispatches.Open(ctx, order)
	require.NoError(d.t, err)
	upload, err := dispatches.Upload(ctx, order.Key, 0)
	require.NoError(d.t, err)
	for i := range n {
		item := dispatch.Item{ID: fmt.Sprintf("i-%d", i), Payload: fmt.Appendf(nil, `{"id":"i-%d","text":"Your appointment is tomorrow at nine."}`, i)}
		require.NoError(d.t, upload.Append(ctx, item))
	}
	_, err = upload.Commit(ctx)
	require.NoError(d.t, err)
	return order.Key
}

// await returns the dispatch once it has ended.
func (d *deployment) await(key wire.Key, within time.Duration) (view dispatch.View) {
	require.Eventually(d.t, func() bool {
		var err error
		view, err = d.Engine.Dispatches.Get(context.Background(), key)
		return err == nil && view.Status.Finished()
	}, within, 250*time.Millisecond)
	return view
}

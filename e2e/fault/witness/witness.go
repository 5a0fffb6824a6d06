package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// Orders is a payload: the witness's orders for its timer.
type Orders struct {
	// Timer makes each payload different.
	Timer string `json:"timer"`
	// Refuse is how many attempts are answered 500 before one is taken.
	Refuse int `json:"refuse"`
	// Hold is how long the caller waits for an answer, in milliseconds.
	Hold int64 `json:"hold_ms"`
}

// Witness is a running receiver.
type Witness struct {
	URL string
	// Addr is the address in URL.
	Addr string

	path    string
	journal *journal
	count   atomic.Int64
	held    atomic.Int64

	mu  sync.Mutex
	err error
}

// entry is a line of the journal: an arrival, or the answer to an earlier one.
type entry struct {
	N        int64           `json:"n"`
	Arrival  *oracle.Arrival `json:"arrival,omitempty"`
	Answered *time.Time      `json:"answered,omitempty"`
}

// New starts a witness that ends with the test.
func New(t testing.TB) *Witness {
	t.Helper()
	w := &Witness{path: filepath.Join(t.TempDir(), "arrivals.jsonl")}
	var err error
	w.journal, err = openJournal(w.path)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.Addr = listener.Addr().String()
	w.URL = "http://" + w.Addr + "/"
	var handlers sync.WaitGroup
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		w.ServeHTTP(rw, r)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
		handlers.Wait()
		require.NoError(t, w.journal.close())
		require.NoError(t, w.Err())
	})
	return w
}

// ServeHTTP records the request, then does as ordered.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it does not count as received
	}
	var orders Orders
	if err := json.Unmarshal(body, &orders); err != nil {
		w.fail(err)
	}
	arrival := arrivalOf(r, body, at)
	arrival.Status = http.StatusOK
	if arrival.Attempt <= orders.Refuse {
		arrival.Status = http.StatusInternalServerError
	}
	n := w.count.Add(1)
	w.fail(w.journal.append(entry{N: n, Arrival: &arrival}))
	w.hold(r, time.Duration(orders.Hold)*time.Millisecond)
	answered := time.Now()
	w.fail(w.journal.append(entry{N: n, Answered: &answered}))
	rw.WriteHeader(arrival.Status)
}

func arrivalOf(r *http.Request, body []byte, at time.Time) oracle.Arrival {
	digest := sha256.Sum256(body)
	number := func(name string) int {
		n, _ := strconv.Atoi(r.Header.Get(name))
		return n
	}
	return oracle.Arrival{
		ID: r.Header.Get("Wakecall-Business-Id"), WebhookID: r.Header.Get("webhook-id"),
		Attempt: number("Wakecall-Attempt"), Revision: number("Wakecall-Revision"),
		Body: hex.EncodeToString(digest[:8]), At: at,
	}
}

// hold delays the answer while the caller lives.
func (w *Witness) hold(r *http.Request, span time.Duration) {
	if span == 0 {
		return
	}
	w.held.Add(1)
	defer w.held.Add(-1)
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

func (w *Witness) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// Err is the first failure to record something, which makes the log worthless.
func (w *Witness) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Count is the number of requests so far.
func (w *Witness) Count() int { return int(w.count.Load()) }

// Held is the number of callers waiting for an answer.
func (w *Witness) Held() int { return int(w.held.Load()) }

// Arrivals reads the log back from the disk.
func (w *Witness) Arrivals() ([]oracle.Arrival, error) {
	arrivals, place := []oracle.Arrival{}, map[int64]int{}
	err := readJournal(w.path, w.journal.size.Load(), func(e entry) {
		if e.Arrival != nil {
			place[e.N] = len(arrivals)
			arrivals = append(arrivals, *e.Arrival)
		}
		if e.Answered != nil {
			arrivals[place[e.N]].Answered = *e.Answered
		}
	})
	return arrivals, err
}

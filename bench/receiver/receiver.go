// Package receiver is the HTTP server that subjects call. It takes the rings of some subjects
// from a queue instead. It measures deliveries itself, and trusts no subject's own report.
package receiver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// DueHeader is Wakecall's header for the due time of a delivery, in RFC 3339. A subject with
// recurring timers uses the same header.
const DueHeader = "Wakecall-Due-At"

// Ring is one call that arrived.
type Ring struct {
	ID string
	At time.Time
	// Due is zero if the caller does not send it.
	Due time.Time
}

// Receiver is a running receiver on loopback.
type Receiver struct {
	URL    string
	server *http.Server

	mu    sync.Mutex
	rings []Ring
	seen  map[string]bool
}

// New starts a receiver that answers 200 to everything.
func New() (*Receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{URL: "http://" + listener.Addr().String() + "/", seen: map[string]bool{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Close stops the receiver.
func (r *Receiver) Close() error { return r.server.Close() }

// ServeHTTP records the time before anything else.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	ring := Ring{At: time.Now()}
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = r.record(ring, body, request.Header.Get(DueHeader))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// record records a ring. due is empty if the caller does not send it.
func (r *Receiver) record(ring Ring, body []byte, due string) error {
	var named struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return err
	}
	ring.ID = named.ID
	ring.Due, _ = time.Parse(time.RFC3339, due)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rings, r.seen[ring.ID] = append(r.rings, ring), true
	return nil
}

// Drain returns the rings so far, and clears them.
func (r *Receiver) Drain() []Ring {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.rings
	r.rings, r.seen = nil, map[string]bool{}
	return taken
}

// Await returns when all of the timers have rung, or when ctx ends.
func (r *Receiver) Await(ctx context.Context, ids []string) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for len(ids) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			ids = r.missing(ids)
		}
	}
}

func (r *Receiver) missing(ids []string) (missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if !r.seen[id] {
			missing = append(missing, id)
		}
	}
	return missing
}

package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// receiver takes items, and counts them.
type receiver struct {
	flaky int // one item in so many fails at first; 0 for none

	mu      sync.Mutex
	calls   map[string]int // by webhook-id, by which a real receiver drops repetitions
	seconds map[int64]int  // items that came for the first time, by second
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, _ = io.Copy(io.Discard, req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	id := req.Header.Get("webhook-id")
	r.calls[id]++
	if r.calls[id] > 1 {
		return
	}
	r.seconds[time.Now().Unix()]++
	if r.flaky > 0 && len(r.calls)%r.flaky == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// summary is the receiver's view of the items and their evenness.
func (r *receiver) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := 0
	for _, n := range r.calls {
		all += n
	}
	text := fmt.Sprintf("The receiver saw %d items in %d calls.", len(r.calls), all)
	seconds := slices.Sorted(maps.Keys(r.seconds))
	if len(seconds) < 3 {
		return text
	}
	whole := seconds[1 : len(seconds)-1] // the first and the last one are parts
	least, most := r.seconds[whole[0]], r.seconds[whole[0]]
	for _, second := range whole {
		least, most = min(least, r.seconds[second]), max(most, r.seconds[second])
	}
	return text + fmt.Sprintf(" In each of %d whole seconds %d to %d items came.", len(whole), least, most)
}

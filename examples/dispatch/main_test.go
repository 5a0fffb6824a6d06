package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

func TestTheBar(t *testing.T) {
	b := &bar{now: func() time.Time { return time.Unix(1000, 0) }}
	items := 200
	view := dispatch.View{
		Status: dispatch.Running, Items: &items, Done: 95, Failed: 5, Retrying: 2,
		Achieved: dispatch.Rates{LastSecond: 49.96}, EstimatedEnd: wire.At(time.Unix(1002, 0)),
	}
	want := "[" + strings.Repeat("#", 20) + strings.Repeat(".", 20) + "]  50 %  100 of 200  50.0/s  2 on the ladder  2s left"
	if got := b.line(view); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	view.Items = nil
	if got := b.line(view); got != "running  100  50.0/s" {
		t.Error(got)
	}
}

// wakecall is one that calls the receiver once for each item, as soon as it has it.
type wakecall struct {
	mu        sync.Mutex
	target    string
	cancelled bool
	ended     bool
}

func (f *wakecall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "POST dispatches":
		var order struct{ Callback struct{ URL string } }
		_ = json.NewDecoder(r.Body).Decode(&order)
		f.target = order.Callback.URL
	case "PUT items":
		for lines := json.NewDecoder(r.Body); lines.More(); {
			var item dispatch.Item
			_ = lines.Decode(&item)
			call, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, f.target, bytes.NewReader(item.Payload))
			call.Header.Set("webhook-id", item.ID)
			if answer, err := http.DefaultTransport.RoundTrip(call); err == nil {
				_ = answer.Body.Close()
			}
		}
	case "GET events":
		kind := "progress"
		if f.ended {
			kind = "end"
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: {\"status\":\"done\",\"done\":10,\"items\":10,\"callbacks\":11}\n\n", kind)
		return
	default:
		f.cancelled = r.Method == http.MethodDelete
	}
	_, _ = fmt.Fprint(w, `{"status":"running"}`)
}

func TestARun(t *testing.T) {
	server := httptest.NewServer(&wakecall{ended: true})
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	var out strings.Builder
	if err := run(t.Context(), options{url: server.URL, items: 10, rate: 5, flaky: 5}, &bar{out: &out, now: time.Now}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"10 items are stored", "100 %", "done: 10 taken, 0 failed, 11 callbacks", "The receiver saw 10 items in 10 calls."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}

// Who interrupts the program cancels the dispatch.
func TestAnInterruptCancels(t *testing.T) {
	fake := &wakecall{}
	server := httptest.NewServer(fake)
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	ctx, interrupt := context.WithCancel(t.Context())
	out := &interrupting{interrupt: interrupt}
	err := run(ctx, options{url: server.URL, items: 1, rate: 5}, &bar{out: out, now: time.Now})
	if err == nil || !strings.HasPrefix(err.Error(), "cancelled demo/") || !fake.cancelled {
		t.Fatal(err)
	}
}

// interrupting interrupts once progress is shown.
type interrupting struct{ interrupt func() }

func (i *interrupting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("%")) {
		i.interrupt()
	}
	return len(p), nil
}

package amqpsend

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/rabbit"
	"github.com/wakecall/wakecall/internal/tuning"
)

const (
	stuck = "wakecall-stuck"
	// shortly is how long an attempt has at a queue that confirms nothing.
	shortly = 300 * time.Millisecond
)

// A queue that confirms nothing, because it has lost its majority, delays only the timers of
// its own type, both while attempts wait for it and afterwards.
func stuckQueue(t *testing.T, server *rabbit.Server) {
	var connections atomic.Int64
	proxy := rabbit.NewProxy(t, server.Address, func() rabbit.Misbehaviour {
		connections.Add(1)
		return rabbit.Behaves()
	})
	defer proxy.Close()
	transport, app := New([]Broker{{Name: "main", URL: proxy.URL}}), newConsumer(t, server.URL)
	defer transport.Close()
	defer func() { _ = app.conn.Close() }()
	app.declares(taking, nil)
	app.declares(stuck, nil)
	server.Suspend(stuck)
	attempt := func(businessType, queue string, timeout time.Duration) send.Outcome {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		return transport.Send(ctx, send.Envelope{ID: "msg_1", BusinessType: businessType, Destination: to("main", queue), Body: []byte("x")})
	}
	for range 3 {
		var attempts sync.WaitGroup
		for range tuning.BrokerChannels {
			attempts.Go(func() {
				if outcome := attempt("order", stuck, shortly); outcome.Class != delivery.Timeout {
					t.Errorf("of a queue that confirms nothing: %+v", outcome)
				}
			})
		}
		for range 3 {
			outcome := attempt("invoice", taking, time.Minute)
			require.True(t, outcome.Delivered, "of another type: %+v", outcome)
		}
		attempts.Wait()
	}
	delivers := func(queue, reason string) {
		require.Eventually(t, func() bool { return attempt("order", queue, shortly).Delivered }, 2*time.Minute, 10*time.Millisecond, reason)
	}
	delivers(taking, "another queue of the same type has its channels back")
	server.Resume(stuck)
	delivers(stuck, "it confirms again")
	require.EqualValues(t, 1, connections.Load(), "over one connection")
}

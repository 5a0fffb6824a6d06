package roles

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/health"
)

// slow is a transport whose answers come once they may.
type slow struct{ answer chan struct{} }

func (s slow) Send(context.Context, send.Envelope) send.Outcome {
	<-s.answer
	return send.Outcome{}
}

// A process tells what it does, what it holds and what it is sending.
func TestAboutThisProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &App{Program: Program{Version: "1.2.3"}, reporters: reporters{self: newSelf(func() int { return 7 })}}
		told := a.about()
		require.Equal(t, health.Gateway, told.Role)
		require.Equal(t, "1.2.3", told.Version)
		require.NotZero(t, told.StartedAt)
		require.Nil(t, told.Preloaded, "it has no worker")
		require.Zero(t, *told.InFlight)

		role := health.Node
		a.reporters.self.role.Store(&role)
		require.Equal(t, 7, *a.about().Preloaded)
		require.Equal(t, health.Node, a.about().Role)

		answers := slow{make(chan struct{})}
		sender := a.reporters.self.counted(send.New(send.Transports{delivery.DestinationHTTP: answers}, noop.NewTracerProvider().Tracer("")))
		for range 3 {
			go sender.Send(t.Context(), send.Message{Destination: delivery.HTTP("http://a.example"), Timeout: time.Minute})
		}
		synctest.Wait()
		require.Equal(t, 3, *a.about().InFlight)
		close(answers.answer)
		synctest.Wait()
		require.Zero(t, *a.about().InFlight)
	})
}

// A worker gives its signs by itself: two that give them would write over one another.
func TestAWorkerGivesItsOwnSigns(t *testing.T) {
	t.Parallel()
	a := &App{reporters: reporters{self: newSelf(nil)}}
	role := health.Worker
	a.reporters.self.role.Store(&role)
	a.giveSigns(t.Context())() // there is no engine that could
}

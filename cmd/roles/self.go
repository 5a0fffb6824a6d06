package roles

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
)

// self is what a process knows of itself, and tells with its signs of life.
type self struct {
	// role is what it does.
	role    atomic.Pointer[health.Role]
	host    string
	started time.Time
	// waiting counts the timers that it preloads.
	waiting func() int
	// sending counts the messages that it is sending to receivers.
	sending atomic.Int64
}

// newSelf returns what a gateway without a worker knows of itself.
func newSelf(waiting func() int) *self {
	host, _ := os.Hostname() // "" for a machine without a name
	role := health.Gateway
	s := &self{host: host, started: time.Now(), waiting: waiting}
	s.role.Store(&role)
	return s
}

// about describes this process. A gateway preloads nothing, and leaves that out.
func (a *App) about() health.About {
	s := a.reporters.self
	sending := int(s.sending.Load())
	told := health.About{Role: *s.role.Load(), Version: a.Version, Host: s.host, StartedAt: wire.At(s.started), InFlight: &sending}
	if told.Role != health.Gateway {
		waiting := s.waiting()
		told.Preloaded = &waiting
	}
	return told
}

// counted returns a sender whose messages are counted while they are under way.
func (s *self) counted(by *send.Sender) countedSender { return countedSender{by, &s.sending} }

type countedSender struct {
	*send.Sender
	sending *atomic.Int64
}

// Send implements [delivery.Sender].
func (c countedSender) Send(ctx context.Context, m send.Message) send.Outcome {
	c.sending.Add(1)
	defer c.sending.Add(-1)
	return c.Sender.Send(ctx, m)
}

// giveSigns gives signs of life in a process without a worker until end is called. Once ctx is done
// they say that it stops. A worker gives them by itself.
func (a *App) giveSigns(ctx context.Context) (end func()) {
	if *a.reporters.self.role.Load() != health.Gateway {
		return func() {}
	}
	giving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { a.Engine.Processes.GiveSigns(giving, ctx) })
	return func() { stop(); running.Wait() }
}

package canary

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Receivers connect to this process, and get the rings of their business type.
type Receivers interface {
	Join(businessType string, window int) (*stream.Connection, error)
}

// Emergencies tell what holds back callbacks.
type Emergencies interface {
	Holding(ctx context.Context, businessType string) (*policy.Emergency, error)
}

// Observer gets the measurements of each beat.
type Observer interface {
	// Booked gets when a beat began.
	Booked(at time.Time)
	// Stepped gets whether a step was the first to fail, for each of [Steps].
	Stepped(step string, failed bool)
	// Took gets how long a step took that was made.
	Took(step string, took time.Duration)
}

// Config configures a [Canary].
type Config struct {
	Kernel      *kernel.Kernel
	Receivers   Receivers
	Emergencies Emergencies
	Observer    Observer
	Logger      *slog.Logger
	// Gateway is the identity of this process.
	Gateway string
}

// Canary books a timer once a minute, and measures it. It is safe for concurrent use.
type Canary struct {
	Config
	key wire.Key
	// begun is when the canary was made.
	begun time.Time

	mu   sync.Mutex
	last Beat
	// failing is the step that failed last, until a timer rings as it should.
	failing Step
}

// New returns a canary that has not begun.
func New(config Config) *Canary {
	return &Canary{Config: config, key: wire.Key{BusinessType: policy.CanaryType(config.Gateway), BusinessID: "canary"}, begun: time.Now()}
}

// Last returns the last beat; the zero beat before the first one has ended.
func (c *Canary) Last() Beat {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Run makes a beat once a minute, until ctx is done. The first one comes within a minute, at a
// random moment, so that gateways which start together take turns.
func (c *Canary) Run(ctx context.Context) {
	receiver, err := c.Receivers.Join(c.key.BusinessType, 1)
	if err != nil {
		c.Logger.Warn("the canary has no stream", "error", err)
		return
	}
	defer receiver.Close()
	rings := make(chan ring)
	var receiving sync.WaitGroup
	receiving.Go(func() { receive(ctx, receiver, rings) })
	defer receiving.Wait()
	next := time.NewTimer(rand.N(tuning.CanaryInterval))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			next.Reset(tuning.CanaryInterval)
			c.ringOnce(ctx, rings)
		case <-ctx.Done():
			return
		}
	}
}

// ringOnce makes one beat and reports it, unless the end of the process cut it off.
func (c *Canary) ringOnce(ctx context.Context, rings <-chan ring) {
	beat := c.measure(ctx, rings)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	c.last = beat
	c.mu.Unlock()
	c.observe(beat)
	switch {
	case beat.Held: // it shows nothing
	case beat.Failed != "":
		c.Logger.Error("the canary did not ring as it should", "step", string(beat.Failed), "why", beat.Why)
		c.failing = beat.Failed
	case c.failing != "":
		c.Logger.Info("the canary rings again", "step", string(c.failing))
		c.failing = ""
	}
}

func (c *Canary) observe(beat Beat) {
	c.Observer.Booked(beat.At)
	for _, step := range Steps {
		c.Observer.Stepped(string(step), step == beat.Failed)
		if took, made := beat.Took[step]; made {
			c.Observer.Took(string(step), took)
		}
	}
}

// ring is a ring that the receiver got and answered.
type ring struct {
	webhookID string
	at        time.Time
}

// receive takes and answers rings until ctx is done. A ring that no beat waits for belongs to an
// earlier beat.
func receive(ctx context.Context, receiver *stream.Connection, rings chan<- ring) {
	for {
		next, err := receiver.Next(ctx)
		if err != nil {
			return
		}
		got := ring{webhookID: next.Headers[delivery.HeaderWebhookID], at: time.Now()}
		_ = receiver.Answer(next.Number, taken) // fails only where its deadline has passed
		select {
		case rings <- got:
		case <-time.After(tuning.CanaryHandOver):
		case <-ctx.Done():
		}
	}
}

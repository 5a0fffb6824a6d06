package questions

import (
	"context"
	"sync"
	"time"
)

// Meter bounds the questions of some work to one in a time. It is safe for concurrent use.
type Meter struct {
	every, most, saved time.Duration

	mu sync.Mutex
	// free is when the questions so far are paid for.
	free time.Time
}

// NewMeter returns a meter that allows one question in a time. Many questions at once are paid for by a
// rest, of most at the longest.
func NewMeter(every, most time.Duration) *Meter { return &Meter{every: every, most: most} }

// key is that of a turn in a context.
type key struct{}

// AtOnce makes the meter allow so many questions at once after a rest.
func (m *Meter) AtOnce(most int) *Meter {
	m.saved = time.Duration(most) * m.every
	return m
}

// background is the key of what marks a context.
type background struct{}

// Background returns a context for work that no user waits for.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, background{}, true)
}

// InBackground reports whether no user waits for the work of a context.
func InBackground(ctx context.Context) bool { return ctx.Value(background{}) != nil }

// turn is one piece of work. Its first question was paid for when it began.
type turn struct {
	meter *Meter

	mu   sync.Mutex
	paid bool
}

// Counted returns a context whose questions are counted. It waits for nothing.
func (m *Meter) Counted(ctx context.Context) context.Context {
	return context.WithValue(Background(ctx), key{}, &turn{meter: m})
}

// Turn waits until all questions so far are paid for, and pays for one. The questions of the context that
// it returns are counted. The error is that of ctx.
func (m *Meter) Turn(ctx context.Context) (context.Context, error) { return m.TurnUnless(ctx, nil) }

// TurnUnless is [Meter.Turn] for work that a user may begin to wait for: it does not wait once urgent is closed.
func (m *Meter) TurnUnless(ctx context.Context, urgent <-chan struct{}) (context.Context, error) {
	for {
		wait := m.begin()
		if wait <= 0 {
			return context.WithValue(Background(ctx), key{}, &turn{meter: m, paid: true}), ctx.Err()
		}
		select {
		case <-time.After(wait):
		case <-urgent:
			return m.Counted(ctx), ctx.Err()
		case <-ctx.Done():
			return ctx, ctx.Err()
		}
	}
}

// begin pays for one question, or returns how long to wait before.
func (m *Meter) begin() (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wait = time.Until(m.free); wait <= 0 {
		m.spend(time.Now())
	}
	return wait
}

// pay pays for a question that was asked.
func (m *Meter) pay() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.spend(now); m.free.Sub(now) > m.most {
		m.free = now.Add(m.most)
	}
}

// spend takes the time of one question, of that which was saved first.
func (m *Meter) spend(now time.Time) {
	if least := now.Add(-m.saved); m.free.Before(least) {
		m.free = least
	}
	m.free = m.free.Add(m.every)
}

// Asked notes a question. A context whose questions are not counted asks freely.
func Asked(ctx context.Context) {
	of, counted := ctx.Value(key{}).(*turn)
	if !counted {
		return
	}
	of.mu.Lock()
	paid := of.paid
	of.paid = false
	of.mu.Unlock()
	if !paid {
		of.meter.pay()
	}
}

package stream

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
)

// Ring is a message on its way to a receiver.
type Ring struct {
	// Number is the number of the ring on its connection, from 1.
	Number uint64
	// Deadline is the time by which it must be answered.
	Deadline    time.Time
	ContentType string
	Headers     map[string]string
	Body        []byte
}

// The errors of an answer.
var (
	// ErrNeverSent: the connection has sent no such ring. Its sender is not to be trusted.
	ErrNeverSent = errors.New("no such ring was sent on this connection")
	// ErrOver: the ring was answered before, or its deadline has passed.
	ErrOver = errors.New("the ring was answered before, or its deadline has passed")
)

// Connection is one receiver. One goroutine takes its rings, and any goroutine answers them. A
// connection that takes no more rings ends when the last is answered.
type Connection struct {
	hub          *Hub
	businessType string
	name         string
	// leave is closed when the connection takes no more rings, and ended when it also has none
	// left.
	leave, ended chan struct{}
	// more has an element while there may be rings to take.
	more chan struct{}

	// The hub's mu guards the following fields.
	window int    // 0 if it takes no more
	turn   uint64 // the hub's count at its last ring
	last   uint64 // the number of the last ring
	sent   uint64 // the number of the last taken ring
	queue  []*flight
	under  map[uint64]*flight // given and not answered
	gone   bool
}

// flight is a ring that waits for its answer.
type flight struct {
	ring       Ring
	connection *Connection
	outcome    Outcome
	done       chan struct{}
}

// Name returns the name of the connection, which cannot be guessed.
func (c *Connection) Name() string { return c.name }

// Ended returns a channel that is closed when the connection takes no more rings and has none
// left.
func (c *Connection) Ended() <-chan struct{} { return c.ended }

// Next returns the next ring to send. Its errors are that of ctx, and [ErrLeaving] if the
// connection takes no more.
func (c *Connection) Next(ctx context.Context) (Ring, error) {
	for {
		if ring, ok := c.pop(); ok {
			return ring, nil
		}
		select {
		case <-c.more:
		case <-c.leave:
			return Ring{}, ErrLeaving
		case <-ctx.Done():
			return Ring{}, ctx.Err()
		}
	}
}

func (c *Connection) pop() (Ring, bool) {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	for len(c.queue) > 0 {
		f := c.queue[0]
		c.queue = c.queue[1:]
		if c.under[f.ring.Number] != f { // already withdrawn
			continue
		}
		c.sent, f.outcome.Taken = f.ring.Number, time.Now()
		return f.ring, true
	}
	return Ring{}, false
}

// Answer sets the receiver's answer to a ring. Its errors are [ErrNeverSent] and [ErrOver].
func (c *Connection) Answer(number uint64, answer delivery.Answer) error {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	if number == 0 || number > c.sent {
		return ErrNeverSent
	}
	f := c.under[number]
	if f == nil {
		return ErrOver
	}
	c.finish(f, answer)
	return nil
}

// Retire stops taking rings. Those that were not taken go back at once.
func (c *Connection) Retire() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.retire()
}

// Close ends the connection. Its unanswered rings get no verdict on the receiver.
func (c *Connection) Close() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.close()
}

var broken = delivery.Answer{Class: delivery.BrokenAnswer, Detail: "the connection ended before an answer", NoVerdict: true}

// The caller of the following methods holds the hub's mu.

// places returns how many rings the connection takes at once, including the present ones.
func (c *Connection) places() int { return max(c.window, len(c.under)) }

func (c *Connection) room() int { return c.window - len(c.under) }

// before reports whether the connection gets a ring before other: it has more room, or as much
// and a longer wait.
func (c *Connection) before(other *Connection) bool {
	if c.room() != other.room() {
		return c.room() > other.room()
	}
	return c.turn < other.turn
}

// enqueue queues a ring.
func (c *Connection) enqueue(ring Ring) *flight {
	c.last++
	ring.Number = c.last
	f := &flight{ring: ring, connection: c, done: make(chan struct{})}
	c.under[ring.Number] = f
	c.queue = append(c.queue, f)
	select {
	case c.more <- struct{}{}:
	default:
	}
	return f
}

// finish ends a flight in progress.
func (c *Connection) finish(f *flight, answer delivery.Answer) {
	delete(c.under, f.ring.Number)
	f.outcome.Answer = answer
	close(f.done)
	c.updatePlaces()
}

// retire stops taking rings.
func (c *Connection) retire() {
	if c.window == 0 {
		return
	}
	c.window = 0
	close(c.leave)
	queue := c.queue
	c.queue = nil
	for _, f := range queue {
		if c.under[f.ring.Number] == f {
			c.finish(f, broken)
		}
	}
	c.updatePlaces()
}

// close stops taking rings, and gives all back.
func (c *Connection) close() {
	c.retire()
	for _, f := range c.under {
		c.finish(f, broken)
	}
}

// updatePlaces ends a connection that takes no more rings and has none left, and updates the number of
// places.
func (c *Connection) updatePlaces() {
	if c.gone {
		return
	}
	if c.window == 0 && len(c.under) == 0 {
		c.gone = true
		close(c.ended)
		c.hub.remove(c)
	}
	c.hub.reportPlaces(c.businessType)
}

// withdraw ends a ring after its deadline. It gives no verdict on the receiver if the ring was
// not sent, or if the hub is draining, because its answer may have been lost.
func (c *Connection) withdraw(f *flight, cause error) {
	if c.under[f.ring.Number] != f { // answered at the last moment
		return
	}
	answer := delivery.Answer{Class: delivery.Timeout, NoVerdict: f.outcome.Taken.IsZero() || c.hub.draining}
	if !errors.Is(cause, context.DeadlineExceeded) {
		answer.Class = delivery.BrokenAnswer
	}
	c.finish(f, answer)
}

package stream

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
)

// Ring is a message on its way to a receiver.
type Ring struct {
	// Number is the ring's on its connection, from 1.
	Number uint64
	// Deadline is until when it must be answered.
	Deadline    time.Time
	ContentType string
	Headers     map[string]string
	Body        []byte
}

// What is wrong with an answer.
var (
	// ErrNeverSent: the connection has sent no such ring. Who says so is not to be
	// trusted.
	ErrNeverSent = errors.New("no such ring was sent on this connection")
	// ErrOver: the ring was answered before, or its deadline has passed.
	ErrOver = errors.New("the ring was answered before, or its deadline has passed")
)

// Connection is one receiver. Its rings are taken by one goroutine, and answered by any.
// One that takes no more rings ends when the last is answered.
type Connection struct {
	hub          *Hub
	businessType string
	name         string
	// leave is closed when the connection takes no more rings, and ended when it has
	// none left either.
	leave, ended chan struct{}
	// more has an element while there may be rings to take.
	more chan struct{}

	// What follows is guarded by the hub's mu.
	window int    // 0 when it takes no more
	turn   uint64 // when it got its last ring, as the hub counts
	last   uint64 // the number of the last ring
	sent   uint64 // the number of the last ring that was taken
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

// Name is the connection's: nobody can guess it.
func (c *Connection) Name() string { return c.name }

// Ended is closed when the connection takes no more rings and has none left.
func (c *Connection) Ended() <-chan struct{} { return c.ended }

// Next returns the next ring to send. Its errors are that of ctx, and [ErrLeaving] when
// the connection takes no more.
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
		if c.under[f.ring.Number] != f { // withdrawn meanwhile
			continue
		}
		c.sent, f.outcome.Taken = f.ring.Number, time.Now()
		return f.ring, true
	}
	return Ring{}, false
}

// Answer is the receiver's word on a ring. Its errors are [ErrNeverSent] and [ErrOver].
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
	c.settle(f, answer)
	return nil
}

// Retire takes no more rings. Those that were not taken go back at once.
func (c *Connection) Retire() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.retire()
}

// Close ends the connection. What it has not answered says nothing of the receiver.
func (c *Connection) Close() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.close()
}

var broken = delivery.Answer{Class: delivery.BrokenAnswer, Detail: "the connection ended before an answer", NoVerdict: true}

// What follows is for who holds the hub's mu.

// places is how many rings the connection takes at once, those that it has included.
func (c *Connection) places() int { return max(c.window, len(c.under)) }

func (c *Connection) room() int { return c.window - len(c.under) }

// before is whether the connection gets a ring rather than other: it has more room, or as much
// and has waited for longer.
func (c *Connection) before(other *Connection) bool {
	if c.room() != other.room() {
		return c.room() > other.room()
	}
	return c.turn < other.turn
}

// take queues a ring.
func (c *Connection) take(ring Ring) *flight {
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

// settle ends a flight that is under way.
func (c *Connection) settle(f *flight, answer delivery.Answer) {
	delete(c.under, f.ring.Number)
	f.outcome.Answer = answer
	close(f.done)
	c.tidy()
}

// retire takes no more rings.
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
			c.settle(f, broken)
		}
	}
	c.tidy()
}

// close takes no more rings, and gives all back.
func (c *Connection) close() {
	c.retire()
	for _, f := range c.under {
		c.settle(f, broken)
	}
}

// tidy ends a connection that takes no more rings and has none left, and tells how many
// places there are.
func (c *Connection) tidy() {
	if c.gone {
		return
	}
	if c.window == 0 && len(c.under) == 0 {
		c.gone = true
		close(c.ended)
		c.hub.remove(c)
	}
	c.hub.tell(c.businessType)
}

// withdraw ends a ring whose time is over. One that was not even sent says nothing of
// the receiver, nor does one of a hub that is left: its answer may have found nobody.
func (c *Connection) withdraw(f *flight, cause error) {
	if c.under[f.ring.Number] != f { // answered at the last moment
		return
	}
	answer := delivery.Answer{Class: delivery.Timeout, NoVerdict: f.outcome.Taken.IsZero() || c.hub.leaving}
	if !errors.Is(cause, context.DeadlineExceeded) {
		answer.Class = delivery.BrokenAnswer
	}
	c.settle(f, answer)
}

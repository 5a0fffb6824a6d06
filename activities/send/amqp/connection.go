package amqpsend

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	// maxChannels are open at most: as many attempts are on their way to one broker.
	maxChannels = 256
	// closeTime is for the farewell of a connection.
	closeTime = time.Second
)

// connection has channels that are lent for one attempt each.
type connection struct {
	*amqp.Connection
	// blocked is whether the broker accepts no messages, for want of memory or disk.
	blocked atomic.Bool
	// idle are the channels that nobody has; room has a place for each further one.
	idle chan *channel
	room chan struct{}
	// gone is closed with the connection, and ended waits for what belongs to it.
	gone  chan struct{}
	ended sync.WaitGroup
}

func newConnection(conn *amqp.Connection) *connection {
	c := &connection{
		Connection: conn, idle: make(chan *channel, maxChannels), room: make(chan struct{}, maxChannels), gone: make(chan struct{}),
	}
	blockings := conn.NotifyBlocked(make(chan amqp.Blocking))
	c.ended.Go(func() {
		defer close(c.gone)
		for blocking := range blockings { // closed with the connection
			c.blocked.Store(blocking.Active)
		}
	})
	return c
}

// borrow returns a channel that nobody else has. Opening one is not bound to the
// attempt that wanted it: whoever comes next may have it.
func (c *connection) borrow(ctx context.Context) (*channel, error) {
	select {
	case ch := <-c.idle:
		return ch, nil
	default:
	}
	failed := make(chan error, 1)
	select {
	case c.room <- struct{}{}:
		c.ended.Go(func() { c.openChannel(failed) })
	default: // as many are open as may be
	}
	select {
	case ch := <-c.idle:
		return ch, nil
	case err := <-failed:
		return nil, err
	case <-c.gone:
		return nil, amqp.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *connection) openChannel(failed chan<- error) {
	opened, err := c.Channel()
	if err == nil {
		err = opened.Confirm(false)
	}
	if err != nil {
		<-c.room
		failed <- err
		return
	}
	c.idle <- &channel{
		Channel: opened, conn: c,
		returns: opened.NotifyReturn(make(chan amqp.Return, 1)), closes: opened.NotifyClose(make(chan *amqp.Error, 1)),
	}
}

// channel is lent for one attempt at a time.
type channel struct {
	*amqp.Channel
	conn    *connection
	returns chan amqp.Return
	closes  chan *amqp.Error
}

// giveBack ends the attempt on a channel.
func (ch *channel) giveBack() {
	if ch.IsClosed() {
		ch.discard()
		return
	}
	ch.conn.idle <- ch
}

// giveBackAfter gives a channel back once the broker has said its word on a message
// that nobody waits for any more.
func (ch *channel) giveBackAfter(confirmation *amqp.DeferredConfirmation) {
	ch.conn.ended.Go(func() {
		<-confirmation.Done() // at the latest when the connection ends
		select {
		case <-ch.returns:
		default:
		}
		ch.giveBack()
	})
}

// discard makes room for another channel.
func (ch *channel) discard() { <-ch.conn.room }

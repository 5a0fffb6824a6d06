package amqpsend

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/wakecall/wakecall/internal/tuning"
)

// connection has channels, each lent to one attempt at a time.
type connection struct {
	*amqp.Connection
	// raw is the network connection, and opened is when it was opened.
	raw    net.Conn
	opened time.Time
	// blocked reports whether the broker accepts no messages, for lack of memory or disk.
	blocked atomic.Bool
	// idle are the channels not in use; room has a place for each further one.
	idle chan *channel
	room chan struct{}
	// shares divides the channels among business types.
	shares *shares
	// gone is closed with the connection.
	gone chan struct{}

	mu       sync.Mutex
	ending   bool
	declared map[topology]*declaration
	// running counts the connection's goroutines.
	running sync.WaitGroup
}

func newConnection(conn *amqp.Connection, raw net.Conn) *connection {
	most := min(tuning.BrokerChannels, int(conn.Config.ChannelMax)) // the broker may allow fewer
	c := &connection{
		Connection: conn, raw: raw, opened: time.Now(), gone: make(chan struct{}),
		idle: make(chan *channel, most), room: make(chan struct{}, most),
		shares: newShares(most), declared: map[topology]*declaration{},
	}
	blockings := conn.NotifyBlocked(make(chan amqp.Blocking))
	c.start(func() {
		defer close(c.gone)
		for blocking := range blockings { // closed with the connection
			c.blocked.Store(blocking.Active)
		}
	})
	return c
}

// start runs a goroutine of the connection, unless the connection is being closed.
func (c *connection) start(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.running.Go(run)
	return true
}

// close closes the connection, and waits for its goroutines.
func (c *connection) close() {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	// A blocked broker does not answer the close, and its heartbeats extend the deadline.
	cut := time.AfterFunc(tuning.BrokerCloseTimeout, func() { _ = c.raw.Close() })
	defer cut.Stop()
	_ = c.CloseDeadline(time.Now().Add(tuning.BrokerCloseTimeout))
	c.running.Wait()
}

// acquire returns an unused channel, out of the share of a business type.
func (c *connection) acquire(ctx context.Context, businessType string) (*channel, error) {
	if err := c.shares.acquire(ctx, businessType, c.gone); err != nil {
		return nil, err
	}
	ch, err := c.acquireChannel(ctx)
	if err != nil {
		c.shares.release(businessType)
		return nil, err
	}
	ch.usedBy = businessType
	return ch, nil
}

// acquireChannel returns an idle channel, or opens one. Opening is not bound to the attempt
// that needed it: a later attempt may use the channel.
func (c *connection) acquireChannel(ctx context.Context) (*channel, error) {
	select {
	case ch := <-c.idle:
		return ch, nil
	default:
	}
	failed, room := make(chan error, 1), c.room
	for {
		select {
		case ch := <-c.idle:
			return ch, nil
		case room <- struct{}{}:
			room = nil // one more for an attempt is enough
			if !c.start(func() { c.openChannel(failed) }) {
				<-c.room
				return nil, amqp.ErrClosed
			}
		case err := <-failed:
			return nil, err
		case <-c.gone:
			return nil, amqp.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
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

// channel serves one attempt at a time.
type channel struct {
	*amqp.Channel
	conn *connection
	// usedBy is the business type that uses it, and whose share it counts in.
	usedBy  string
	returns chan amqp.Return
	closes  chan *amqp.Error
}

// release ends the attempt on a channel.
func (ch *channel) release() {
	if ch.IsClosed() {
		ch.discard()
		return
	}
	conn, businessType := ch.conn, ch.usedBy
	conn.idle <- ch
	conn.shares.release(businessType)
}

// releaseAfter releases a channel once the broker has confirmed a message that no attempt waits
// for any more. If the confirmation does not come for a while, it closes the channel.
func (ch *channel) releaseAfter(confirmation *amqp.DeferredConfirmation) {
	ch.conn.start(func() {
		patience := time.NewTimer(tuning.BrokerUnconfirmed)
		defer patience.Stop()
		select {
		case <-confirmation.Done(): // at the latest when the connection ends
			select {
			case <-ch.returns:
			default:
			}
		case <-patience.C:
			_ = ch.Close()
		}
		ch.release()
	})
}

// discard makes room for another channel.
func (ch *channel) discard() {
	<-ch.conn.room
	ch.conn.shares.release(ch.usedBy)
}

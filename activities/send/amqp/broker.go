package amqpsend

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/wakecall/wakecall/internal/tuning"
)

// broker keeps the connection to one broker.
type broker struct {
	Broker
	// dialling is held by whoever connects.
	dialling chan struct{}

	mu      sync.Mutex
	current *connection
	closed  bool
	// After a failure nobody connects before resumes; pause grows with each.
	resumes time.Time
	pause   time.Duration
	failure error
}

func newBroker(b Broker) *broker { return &broker{Broker: b, dialling: make(chan struct{}, 1)} }

// connection returns the open connection, or makes one.
func (b *broker) connection(ctx context.Context) (*connection, error) {
	if conn := b.open(); conn != nil {
		return conn, nil
	}
	select {
	case b.dialling <- struct{}{}:
		defer func() { <-b.dialling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if conn := b.open(); conn != nil { // somebody else has made it
		return conn, nil
	}
	if err := b.pausing(); err != nil {
		return nil, err
	}
	conn, err := b.dial(ctx)
	if err = b.dialled(conn, err, ctx.Err() != nil); errors.Is(err, amqp.ErrClosed) && conn != nil {
		conn.end()
	}
	return conn, err
}

func (b *broker) open() *connection {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil || b.current.IsClosed() {
		return nil
	}
	return b.current
}

func (b *broker) pausing() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return amqp.ErrClosed
	}
	if time.Now().Before(b.resumes) {
		return b.failure
	}
	return nil
}

// dialled notes what came of a connection. An attempt that ran out of time says
// nothing of the broker.
func (b *broker) dialled(conn *connection, err error, outOfTime bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil && b.closed:
		return amqp.ErrClosed
	case err == nil:
		b.current, b.pause = conn, 0
	case !outOfTime:
		b.pause = min(max(2*b.pause, tuning.BrokerFirstPause), tuning.BrokerLongestPause)
		b.resumes, b.failure = time.Now().Add(b.pause), err
	}
	return err
}

func (b *broker) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.BrokerConnectTimeout)
	defer cancel()
	opened := make(chan struct{})
	defer close(opened)
	var raw net.Conn
	conn, err := amqp.DialConfig(b.URL, amqp.Config{
		Heartbeat: b.Heartbeat, TLSClientConfig: b.TLS, Locale: "en_US", ChannelMax: tuning.BrokerChannels + 1,
		Properties: amqp.Table{"connection_name": "wakecall"},
		Dial: func(network, address string) (_ net.Conn, err error) {
			if raw, err = (&net.Dialer{}).DialContext(ctx, network, address); err != nil {
				return nil, err
			}
			deadline, _ := ctx.Deadline()
			_ = raw.SetDeadline(deadline) // the library lifts it once the connection is open
			return &patientConn{Conn: raw, opened: opened}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return newConnection(conn, raw), nil
}

// patientConn bounds each write once the connection is open.
type patientConn struct {
	net.Conn
	opened chan struct{}
}

func (c *patientConn) Write(p []byte) (int, error) {
	select {
	case <-c.opened:
		_ = c.SetWriteDeadline(time.Now().Add(tuning.BrokerWriteTimeout))
	default: // the deadline of the handshake holds
	}
	return c.Conn.Write(p)
}

func (b *broker) close() {
	b.mu.Lock()
	b.closed = true
	conn := b.current
	b.mu.Unlock()
	if conn != nil {
		conn.end()
	}
}

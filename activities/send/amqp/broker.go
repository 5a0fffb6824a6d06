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

// broker holds the connection to one broker.
type broker struct {
	Broker

	mu      sync.Mutex
	current *connection
	// dialling is the dial under way, nil for none.
	dialling *dialling
	// closed reports whether new connections are refused; ending stops a dial under way.
	closed bool
	ending context.CancelFunc
	// After a failure no dial begins before resumes; pause grows with each failure.
	resumes time.Time
	pause   time.Duration
	failure error
}

// dialling is a dial under way. Its result is valid once it has ended.
type dialling struct {
	ended chan struct{}
	conn  *connection
	err   error
}

// errUnsteady blocks dials for a moment after a connection that did not last.
var errUnsteady = errors.New("the connection broke a moment ago")

func newBroker(b Broker) *broker { return &broker{Broker: b, ending: func() {}} }

// connection returns the open connection, or makes one. The dial is not bound to the attempt
// that needed it: if that attempt's time is too short, later ones use the connection.
func (b *broker) connection(ctx context.Context) (*connection, error) {
	conn, d, err := b.get()
	if d == nil {
		return conn, err
	}
	select {
	case <-d.ended:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// get returns the open connection, the dial under way, or the reason for neither.
func (b *broker) get() (*connection, *dialling, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, nil, amqp.ErrClosed
	case b.dialling != nil:
		return nil, b.dialling, nil
	case b.current != nil && !b.current.IsClosed():
		return b.current, nil, nil
	case b.current != nil:
		b.broken()
	}
	if time.Now().Before(b.resumes) {
		return nil, nil, b.failure
	}
	ctx, end := context.WithTimeout(context.Background(), tuning.BrokerConnectTimeout)
	d := &dialling{ended: make(chan struct{})}
	b.dialling, b.ending = d, end
	go func() {
		defer close(d.ended)
		defer end()
		conn, err := b.dial(ctx)
		d.conn, d.err = b.dialled(conn, err)
	}()
	return nil, d, nil
}

// broken records that the connection has ended. A short-lived one suggests an unhealthy
// broker. The caller holds mu.
func (b *broker) broken() {
	if time.Since(b.current.opened) < tuning.BrokerLongestPause {
		b.failed(errUnsteady)
	} else {
		b.pause = 0
	}
	b.current = nil
}

// failed records a failed dial. The caller holds mu.
func (b *broker) failed(err error) {
	b.pause = min(max(2*b.pause, tuning.BrokerFirstPause), tuning.BrokerLongestPause)
	b.resumes, b.failure = time.Now().Add(b.pause), err
}

// dialled records the result of a dial.
func (b *broker) dialled(conn *connection, err error) (*connection, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dialling = nil
	if err != nil {
		b.failed(err)
		return nil, err
	}
	b.current = conn
	return conn, nil
}

func (b *broker) dial(ctx context.Context) (*connection, error) {
	opened := make(chan struct{})
	defer close(opened)
	var raw net.Conn
	stop := func() bool { return true }
	conn, err := amqp.DialConfig(b.URL, amqp.Config{
		Heartbeat: b.Heartbeat, TLSClientConfig: b.TLS, Locale: "en_US", ChannelMax: tuning.BrokerChannels + 1,
		Properties: amqp.Table{"connection_name": "wakecall"},
		Dial: func(network, address string) (_ net.Conn, err error) {
			if raw, err = (&net.Dialer{}).DialContext(ctx, network, address); err != nil {
				return nil, err
			}
			deadline, _ := ctx.Deadline()
			_ = raw.SetDeadline(deadline) // the library lifts it once the connection is open
			stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
			return &patientConn{Conn: raw, opened: opened}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	stop()
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
	b.ending()
	d := b.dialling
	b.mu.Unlock()
	if d != nil {
		<-d.ended
	}
	b.mu.Lock()
	conn := b.current
	b.mu.Unlock()
	if conn != nil {
		conn.close()
	}
}

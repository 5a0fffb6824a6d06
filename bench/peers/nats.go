package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsPeer is JetStream's message scheduler: a message under the timer's own subject, which the
// server publishes under another one when it is due. A durable consumer calls the receiver and
// acknowledges the message. The server and its client share this process, without a network.
type natsPeer struct {
	server   *server.Server
	conn     *nats.Conn
	stream   jetstream.JetStream
	consumer jetstream.ConsumeContext
	caller   *caller

	// places limits the callbacks at once.
	places  chan struct{}
	calling sync.WaitGroup
}

const (
	natsName = "bench"
	// waiting is the prefix of the subjects of pending timers, and due is the subject of those
	// that are due.
	waiting = "waiting."
	due     = "due"
	// startTime is how long a server may take to read its files.
	startTime = time.Minute
	// atHeader and targetHeader say when to publish a message, and under which subject. The
	// client's own option drops the fraction of the second, so that a timer would ring early.
	atHeader     = "Nats-Schedule"
	targetHeader = "Nats-Schedule-Target"
)

var errNotReady = errors.New("the NATS server does not become ready")

func startNATS(s settings, syncAlways bool) (_ peer, err error) {
	n := &natsPeer{caller: newCaller(s.receiver), places: make(chan struct{}, jobs)}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	options := &server.Options{JetStream: true, StoreDir: s.dir, SyncAlways: syncAlways, DontListen: true, NoSigs: true, NoLog: true}
	if n.server, err = server.NewServer(options); err != nil {
		return nil, err
	}
	n.server.Start()
	if !n.server.ReadyForConnections(startTime) {
		return nil, errNotReady
	}
	if n.conn, err = nats.Connect("", nats.InProcessServer(n.server)); err != nil {
		return nil, err
	}
	return n, n.consume()
}

// consume makes the stream and the consumer unless they exist, and begins to ring.
func (n *natsPeer) consume() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if n.stream, err = jetstream.New(n.conn); err != nil {
		return err
	}
	// A work queue keeps a message until it is acknowledged.
	_, err = n.stream.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: natsName, Subjects: []string{waiting + ">", due}, Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	if err != nil {
		return err
	}
	consumer, err := n.stream.CreateOrUpdateConsumer(ctx, natsName, jetstream.ConsumerConfig{
		Durable: natsName, FilterSubject: due, AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	n.consumer, err = consumer.Consume(n.receive)
	return err
}

// receive rings in the background, once there is a place.
func (n *natsPeer) receive(message jetstream.Msg) {
	n.places <- struct{}{}
	n.calling.Go(func() {
		defer func() { <-n.places }()
		if err := n.ring(message); err != nil {
			_ = message.Nak() // it comes again without that, only later
		}
	})
}

func (n *natsPeer) ring(message jetstream.Msg) error {
	var t timer
	if err := json.Unmarshal(message.Data(), &t); err != nil {
		return err
	}
	if err := n.caller.ring(context.Background(), t.ID); err != nil {
		return err
	}
	return message.Ack()
}

// add publishes messages, and waits for the server's acknowledgements of all.
func (n *natsPeer) add(ctx context.Context, timers []timer) (booked int, err error) {
	pending := make([]jetstream.PubAckFuture, 0, len(timers))
	for _, t := range timers {
		future, failed := n.publish(t)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		pending = append(pending, future)
	}
	for _, future := range pending {
		select {
		case <-future.Ok():
			booked++
		case failed := <-future.Err():
			err = errors.Join(err, failed)
		case <-ctx.Done():
			return booked, errors.Join(err, ctx.Err())
		}
	}
	return booked, err
}

func (n *natsPeer) publish(t timer) (jetstream.PubAckFuture, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	message := nats.NewMsg(waiting + t.ID)
	message.Data = body
	message.Header.Set(atHeader, "@at "+t.Due.UTC().Format(time.RFC3339Nano))
	message.Header.Set(targetHeader, due)
	future, err := n.stream.PublishMsgAsync(message)
	if err != nil {
		return nil, fmt.Errorf("publish %s: %w", t.ID, err)
	}
	return future, nil
}

func (n *natsPeer) close() error {
	if n.consumer != nil {
		n.consumer.Stop()
		<-n.consumer.Closed()
	}
	n.calling.Wait()
	if n.conn != nil {
		n.conn.Close()
	}
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
	}
	n.caller.close()
	return nil
}

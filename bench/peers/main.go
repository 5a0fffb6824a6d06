package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// peer is a measured system that calls the receiver when its timers are due.
type peer interface {
	// add books timers in the fastest way there is. It returns the number of timers that are
	// as durable as this peer makes them, also when others failed.
	add(ctx context.Context, timers []timer) (booked int, err error)
	// close ends the peer. Pending timers stay stored.
	close() error
}

// makers start the peers by their names.
var makers = map[string]func(context.Context, settings) (peer, error){
	"dbos":        startDBOS,
	"nats":        func(_ context.Context, s settings) (peer, error) { return startNATS(s, false) },
	"nats-always": func(_ context.Context, s settings) (peer, error) { return startNATS(s, true) },
}

// settings are read from the environment.
type settings struct {
	addr     string // PEER_ADDR: where bookings are taken
	receiver string // PEER_RECEIVER: the URL to call when a timer is due
	dir      string // PEER_DIR: the directory of a peer that stores files
	database string // PEER_DATABASE: the URL of the database of a peer that uses one
}

func fromEnvironment() settings {
	return settings{
		addr: os.Getenv("PEER_ADDR"), receiver: os.Getenv("PEER_RECEIVER"),
		dir: os.Getenv("PEER_DIR"), database: os.Getenv("PEER_DATABASE"),
	}
}

// command runs the named peer until ctx ends.
func command(ctx context.Context, args []string) (err error) {
	if len(args) != 1 || makers[args[0]] == nil {
		return errors.New("say one of dbos, nats, nats-always")
	}
	s := fromEnvironment()
	p, err := makers[args[0]](ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	return serve(ctx, s.addr, p)
}

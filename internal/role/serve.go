package role

import (
	"context"
	"errors"
	"net"
	"time"
)

// drainTime is how long requests that have begun may take when a server stops.
const drainTime = 5 * time.Second

// Serve listens on addr and answers until ctx is done, then stops accepting
// and finishes what has begun. started, if not nil, is told the address.
func Serve(ctx context.Context, server Server, addr string, started func(net.Addr)) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if started != nil {
		started(listener.Addr())
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	return errors.Join(server.Shutdown(stopping), <-failed)
}

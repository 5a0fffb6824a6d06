package listen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/terminal"
)

// Options configure a listener.
type Options struct {
	// Server is the URL of Wakecall, and Key its API key.
	Server, Key  string
	BusinessType string
	// Forward is the URL to call; "" for none: each ring is then printed and acknowledged.
	Forward string
	// Window is how many rings may be in progress; 0 for Wakecall's default.
	Window int
}

// Run listens until ctx ends, and prints a line for each ring.
func Run(ctx context.Context, options Options, out io.Writer) error {
	forward, err := newForwarder(options.Forward)
	if err != nil {
		return program.Wrong(err)
	}
	wakecall := client.New(client.Options{URL: options.Server, Key: options.Key})
	l := &listener{out: terminal.Writer(out), forward: forward}
	where := options.Server
	if options.Forward != "" {
		where += ", forwarding to " + options.Forward
	}
	err = wakecall.Streams.Listen(ctx, options.BusinessType, client.Receiver{
		Window: options.Window, Ring: l.ring,
		Connected: func() { l.print("connected: %s at %s", options.BusinessType, where) },
		Lost: func(err error, next time.Duration) {
			l.print("not connected: %v; again in %s", err, next.Round(10*time.Millisecond))
		},
	})
	if errors.Is(err, context.Canceled) { // interrupted by the user
		return nil
	}
	return err
}

// listener prints its progress, line by line.
type listener struct {
	mu      sync.Mutex
	out     io.Writer
	forward *forwarder
}

// print prints a line for the user. A failed write does not stop the rings.
func (l *listener) print(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, time.Now().Format("15:04:05.000 ")+format+"\n", args...)
}

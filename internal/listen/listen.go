package listen

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/internal/apply"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/terminal"
)

// Options say for whom to listen.
type Options struct {
	BusinessType string
	// Forward is the URL that is called; "" for none: then each ring is printed, and taken.
	Forward string
	// Window is how many rings are under way at once; 0 for Wakecall's default.
	Window int
}

// Parse reads --type TYPE, --forward URL and --window N.
func Parse(args []string) (o Options, ok bool) {
	flags := flag.NewFlagSet("listen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.BusinessType, "type", "", "")
	flags.StringVar(&o.Forward, "forward", "", "")
	flags.IntVar(&o.Window, "window", 0, "")
	return o, flags.Parse(args) == nil && flags.NArg() == 0 && o.BusinessType != "" && o.Window >= 0
}

// Run listens at the Wakecall that the environment names until ctx ends, and prints a line
// for each ring.
func Run(ctx context.Context, options Options, out io.Writer) error {
	var settings apply.Settings
	if err := config.ReadClient(&settings); err != nil {
		return err
	}
	forward, err := newForwarder(options.Forward)
	if err != nil {
		return err
	}
	l := &listener{out: terminal.Writer(out), forward: forward}
	where := settings.URL
	if options.Forward != "" {
		where += ", forwarding to " + options.Forward
	}
	err = settings.Client().Streams.Listen(ctx, options.BusinessType, client.Receiver{
		Window: options.Window, Ring: l.ring,
		Connected: func() { l.print("connected: %s at %s", options.BusinessType, where) },
		Lost: func(err error, next time.Duration) {
			l.print("not connected: %v; again in %s", err, next.Round(10*time.Millisecond))
		},
	})
	if errors.Is(err, context.Canceled) { // somebody has stopped it
		return nil
	}
	return err
}

// listener prints what it does, line by line.
type listener struct {
	mu      sync.Mutex
	out     io.Writer
	forward *forwarder
}

// print tells the user something. Where nobody reads it the rings go on.
func (l *listener) print(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, time.Now().Format("15:04:05.000 ")+format+"\n", args...)
}

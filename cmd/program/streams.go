package program

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
)

// Streams are the input and output of a command.
type Streams struct {
	Out, Err io.Writer
	// Colour reports whether Out is a terminal with colours, and Live whether Err is a terminal.
	Colour, Live bool
	// In has the answers to questions. Asks reports whether a user can answer them.
	In   io.Reader
	Asks bool
	Now  func() time.Time
	// Poll is the interval of checks for progress.
	Poll time.Duration
}

const defaultPoll = 500 * time.Millisecond

// Standard returns the streams of the process.
func Standard() Streams {
	live := isTerminal(os.Stderr)
	return Streams{
		Out: os.Stdout, Err: os.Stderr, Colour: isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "", Live: live,
		In: os.Stdin, Asks: live && isTerminal(os.Stdin), Now: time.Now, Poll: defaultPoll,
	}
}

// isTerminal reports whether a file is a terminal. Other devices, such as /dev/null, are not.
func isTerminal(file *os.File) bool { return isatty.IsTerminal(file.Fd()) }

// output remembers the first error of a writer, because few commands check the result of
// printing.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// reader is a function that reads.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// interruptible returns a reader that fails once ctx ends, also while it waits for input. A command
// that waits for a terminal or a pipe would otherwise hear no signal. The last wait goes on beside
// the process until that ends.
func interruptible(ctx context.Context, from io.Reader) io.Reader {
	type result struct {
		text []byte
		err  error
	}
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		done := make(chan result, 1)
		go func() {
			text := make([]byte, len(p))
			n, err := from.Read(text)
			done <- result{text[:n], err}
		}()
		select {
		case read := <-done:
			return copy(p, read.text), read.err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

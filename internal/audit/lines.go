package audit

import (
	"io"
	"log/slog"
	"sync"

	"github.com/wakecall/wakecall/core/trail"
)

// Lines is a [Sink] that writes each record as a line of JSON. It retains and logs a line that
// cannot be written, and refuses further calls until it is written.
type Lines struct {
	out    io.Writer
	logger *slog.Logger

	mu sync.Mutex
	// kept are the unwritten lines. torn reports whether a part of one was written.
	kept [][]byte
	torn bool
}

// NewLines returns a sink that writes to out. It does not close out.
func NewLines(out io.Writer, logger *slog.Logger) *Lines { return &Lines{out: out, logger: logger} }

// Begin implements [Sink].
func (l *Lines) Begin(*trail.Record) (Open, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(); err != nil {
		return nil, err
	}
	return openLine{l}, nil
}

type openLine struct{ to *Lines }

// End implements [Open].
func (o openLine) End(record *trail.Record) { _ = o.to.write(record) }

// Abandon implements [Open].
func (openLine) Abandon() {}

// write writes a record after the unwritten ones. On an error it retains the record.
func (l *Lines) write(record *trail.Record) error {
	line, err := lineOf(record)
	if err != nil {
		l.logger.Error("an audit record could not be encoded", "id", record.ID, "cause", err)
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, line)
	if err := l.flush(); err != nil {
		// The log is the last resort, and a record holds nothing that a log must not.
		l.logger.Error("an audit record could not be written: calls are refused until it is", "record", string(line), "cause", err)
		return err
	}
	return nil
}

// flush writes the retained lines, in order. It first ends a torn line.
func (l *Lines) flush() error {
	for len(l.kept) > 0 {
		if l.torn {
			if _, err := l.out.Write([]byte("\n")); err != nil {
				return err
			}
			l.torn = false
		}
		n, err := l.out.Write(l.kept[0])
		if err != nil {
			l.torn = n > 0
			return err
		}
		l.kept = l.kept[1:]
	}
	l.kept = nil
	return nil
}

// Close implements [Sink].
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

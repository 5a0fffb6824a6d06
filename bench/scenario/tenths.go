package scenario

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/bench/usage"
)

// tenths is the number of measured parts of the time until the last booking.
const tenths = 10

// Tenth is one of these parts.
type Tenth struct {
	Begin, End time.Time
	// Timers is the number of booked timers.
	Timers int
	// CPU is the subject's processor time in the part, by program.
	CPU map[string]time.Duration
	// Memory is the subject's memory at its end, in bytes by program, and Bytes is the size
	// of its store on disk.
	Memory map[string]int64
	Bytes  int64
}

// way measures the tenths, for many goroutines.
type way struct {
	all     int
	subject subject.Subject

	mu     sync.Mutex
	gone   int
	booked int // in the tenth that is under way
	begin  time.Time
	taken  usage.Usage
	done   []Tenth
	err    error
}

func (r *Runner) newWay(all int) (*way, error) {
	taken, err := usage.Own()
	return &way{all: all, subject: r.subject, begin: time.Now(), taken: taken}, err
}

// add advances by some timers. Not all of them need to be booked.
func (w *way) add(ctx context.Context, timers, booked int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone, w.booked = w.gone+timers, w.booked+booked
	for w.err == nil && len(w.done) < tenths && w.gone*tenths >= w.all*(len(w.done)+1) {
		w.err = w.end(ctx)
	}
}

// end measures a finished tenth.
func (w *way) end(ctx context.Context) error {
	tenth := Tenth{Begin: w.begin, End: time.Now(), Timers: w.booked}
	taken, err := usage.Own()
	if err != nil {
		return err
	}
	counters, err := w.subject.Counters(ctx)
	if err != nil {
		return err
	}
	tenth.CPU, tenth.Memory, tenth.Bytes = taken.Since(w.taken), taken.Memory, counters.Bytes
	w.done, w.booked, w.begin, w.taken = append(w.done, tenth), 0, tenth.End, taken
	slog.Info("a tenth is booked", "timers", w.gone, "took", tenth.End.Sub(tenth.Begin), "bytes", tenth.Bytes)
	return nil
}

package testenv

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// trials is how often an experiment is made at most.
	trials = 3
	// stoodStill is a gap between two beats of this process that spoils an experiment with deadlines of
	// seconds: what gets no processor for so long can be taken for dead.
	stoodStill = time.Second
	beat       = 50 * time.Millisecond
)

// Steadily makes an experiment that needs a machine that keeps going. A worker that dies is told by its silence,
// and so is one that gets no processor: what it has rings again then, as promised. An experiment that fails is
// made anew if this process demonstrably stood still during it. Any other failure is the test's.
func Steadily(t *testing.T, experiment func(t testing.TB)) {
	t.Helper()
	steadily(t, longestGap, experiment)
}

func steadily(t testing.TB, gapOf func(do func()) time.Duration, experiment func(t testing.TB)) {
	t.Helper()
	for range trials - 1 {
		made := &trial{TB: t}
		gap := gapOf(func() { made.run(experiment) })
		failed, errors := made.result()
		switch {
		case !failed:
			return
		case gap < stoodStill:
			t.Fatal(errors)
		}
		t.Logf("made anew: this process stood still for %s\n%s", gap, errors)
	}
	experiment(t)
}

// longestGap is the longest time between two beats of this process while it does something.
func longestGap(do func()) (gap time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	var beats sync.WaitGroup
	beats.Go(func() {
		next := time.NewTicker(beat)
		defer next.Stop()
		for last := time.Now(); ctx.Err() == nil; {
			select {
			case <-next.C:
			case <-ctx.Done():
			}
			gap, last = max(gap, time.Since(last)), time.Now()
		}
	})
	do()
	stop()
	beats.Wait()
	return gap
}

// trial is a test whose failure is not yet that of its parent. What it cleans up is gone as it ends.
type trial struct {
	testing.TB

	mu       sync.Mutex
	failed   bool
	errors   []string
	cleanups []func()
	ctx      context.Context
}

func (t *trial) run(experiment func(testing.TB)) {
	ctx, end := context.WithCancel(t.TB.Context())
	t.ctx = ctx
	ended := make(chan struct{})
	go func() { // its FailNow ends this goroutine
		defer close(ended)
		defer t.cleanUp()
		defer end()
		experiment(t)
	}()
	<-ended
}

// cleanUp calls what is to be cleaned up, the last first, even if one of them fails now.
func (t *trial) cleanUp() {
	for _, cleanup := range t.cleanups {
		defer cleanup()
	}
}

func (t *trial) Context() context.Context { return t.ctx }

func (t *trial) Cleanup(cleanup func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, cleanup)
}

// result returns whether the trial has failed, and its errors.
func (t *trial) result() (failed bool, errors string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed, strings.Join(t.errors, "\n")
}

func (t *trial) fail(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	if message != "" {
		t.errors = append(t.errors, message)
	}
}

func (t *trial) Failed() bool {
	failed, _ := t.result()
	return failed
}

func (t *trial) Fail()                             { t.fail("") }
func (t *trial) Error(args ...any)                 { t.fail(fmt.Sprint(args...)) }
func (t *trial) Errorf(format string, args ...any) { t.fail(fmt.Sprintf(format, args...)) }
func (t *trial) FailNow()                          { t.fail(""); runtime.Goexit() }
func (t *trial) Fatal(args ...any)                 { t.Error(args...); runtime.Goexit() }
func (t *trial) Fatalf(format string, args ...any) { t.Errorf(format, args...); runtime.Goexit() }

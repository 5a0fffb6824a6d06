// Package stage lets test helpers that start real servers and processes run outside of a test.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Stage acts as a test: it hands out directories, records failures, and cleans up.
type Stage struct {
	// TB satisfies the interface, which has an unexported method. Of its other methods only
	// those below are called.
	testing.TB
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	cleanups []func()
	failures []string
}

// New returns a stage whose context ends with ctx, or when it is closed.
func New(ctx context.Context) *Stage {
	ctx, cancel := context.WithCancel(ctx)
	return &Stage{ctx: ctx, cancel: cancel}
}

// Do runs an act, and returns its failure. A fatal failure ends the act.
func (s *Stage) Do(act func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		act()
	}()
	<-done
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) == 0 {
		return nil
	}
	err := errors.New(strings.Join(s.failures, "\n"))
	s.failures = nil
	return err
}

// Close cleans up in reverse order.
func (s *Stage) Close() error {
	s.cancel()
	return s.Do(func() {
		for cleanup := s.pop(); cleanup != nil; cleanup = s.pop() {
			cleanup()
		}
	})
}

func (s *Stage) pop() (last func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.cleanups); n > 0 {
		last, s.cleanups = s.cleanups[n-1], s.cleanups[:n-1]
	}
	return last
}

// Cleanup registers a function for Close.
func (s *Stage) Cleanup(cleanup func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, cleanup)
}

// Context ends before anything is cleaned up.
func (s *Stage) Context() context.Context { return s.ctx }

// TempDir is a directory that is removed at the end.
func (s *Stage) TempDir() string {
	dir, err := os.MkdirTemp("", "wakecall-bench-")
	if err != nil {
		s.Errorf("%v", err)
		s.FailNow()
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Errorf notes a failure.
func (s *Stage) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// FailNow ends the act.
func (s *Stage) FailNow() { runtime.Goexit() }

// Fatal records a failure and ends the act. So do Fatalf, and Skip, for a missing requirement.
func (s *Stage) Fatal(args ...any) {
	s.Errorf("%s", fmt.Sprint(args...))
	s.FailNow()
}

// Fatalf is like [Stage.Fatal].
func (s *Stage) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	s.FailNow()
}

// Skip is like [Stage.Fatal].
func (s *Stage) Skip(args ...any) { s.Fatal(args...) }

// Failed reports whether the act has failed so far.
func (s *Stage) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failures) > 0
}

// Logf adds details to a failure.
func (s *Stage) Logf(format string, args ...any) { s.Errorf(format, args...) }

// Name is the name in failures.
func (s *Stage) Name() string { return "bench" }

// Output is for logs, which are not read here.
func (s *Stage) Output() io.Writer { return io.Discard }

// Helper does nothing outside of a test.
func (s *Stage) Helper() {}

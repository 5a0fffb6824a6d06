package preload

import "sync"

// wakeups reach the runs that are preloaded here.
type wakeups struct {
	mu   sync.Mutex
	runs map[string]chan struct{}
}

// expect returns a channel for wakeups of the run, valid until done.
func (w *wakeups) expect(run string) (woken <-chan struct{}, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs == nil {
		w.runs = map[string]chan struct{}{}
	}
	wakeup := make(chan struct{}, 1)
	w.runs[run] = wakeup
	return wakeup, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs, run)
	}
}

// expected counts the runs that are preloaded here.
func (w *wakeups) expected() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.runs)
}

func (w *wakeups) notify(run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.runs[run] <- struct{}{}:
	default: // not preloaded here, or about to be rechecked
	}
}

package activities

import "sync"

// looks are the runs whose timers wait for their time here.
type looks struct {
	mu   sync.Mutex
	runs map[string]chan struct{}
}

// expect returns what a nudge of the run is sent on, until done.
func (l *looks) expect(run string) (nudged <-chan struct{}, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[string]chan struct{}{}
	}
	nudges := make(chan struct{}, 1)
	l.runs[run] = nudges
	return nudges, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.runs, run)
	}
}

func (l *looks) nudge(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.runs[run] <- struct{}{}:
	default: // not held, or about to look
	}
}

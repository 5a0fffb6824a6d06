package sendtest

import "go.uber.org/goleak"

// since are the goroutines that ran at a moment, and so are no leak.
type since struct{ known goleak.Option }

func goroutines() since { return since{goleak.IgnoreCurrent()} }

// left describes the later goroutines that still run.
func (s since) left() string {
	if err := goleak.Find(s.known); err != nil {
		return err.Error()
	}
	return ""
}

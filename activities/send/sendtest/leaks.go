package sendtest

import "go.uber.org/goleak"

// since are the goroutines of a moment, which are nobody's leak.
type since struct{ known goleak.Option }

func goroutines() since { return since{goleak.IgnoreCurrent()} }

// left describes those that came since and stay.
func (s since) left() string {
	if err := goleak.Find(s.known); err != nil {
		return err.Error()
	}
	return ""
}

package failover

import (
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
)

// streak is a series of signs of this process that reached Temporal without a gap. During a gap, another
// worker may take this one for dead.
type streak struct {
	// began is when Temporal had answered the first one, and last when the last one was sent.
	began, last time.Time
}

// next is the streak after a sign that was sent, and answered with an error or without. A process
// that stood still meanwhile cannot tell when its sign arrived, so it counts the whole time.
func (s *streak) next(sent, answered time.Time, err error) *streak {
	switch {
	case errtype.Is[*serviceerror.Unimplemented](err): // no sign is kept, and no worker is judged
		return nil
	case err != nil && s == nil:
		return &streak{}
	case err != nil:
		return s
	case s == nil || answered.Sub(s.last) > tuning.SignTrusted:
		return &streak{began: answered, last: sent}
	default:
		return &streak{began: s.began, last: sent}
	}
}

// seen reports whether those who look each second have seen a sign of the streak, and see one now.
func (s *streak) seen(now time.Time) bool {
	return s == nil || now.Sub(s.began) >= tuning.SignEvery && now.Sub(s.last) <= tuning.SignTrusted
}

// broken reports whether the streak began after a moment, or has ended.
func (s *streak) broken(since, now time.Time) bool {
	return s != nil && (since.Before(s.began) || now.Sub(s.last) > tuning.SignTrusted)
}

package failover

import (
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
)

// row is a row of signs of this process that reached Temporal without a gap. Before a gap is
// over, another worker may take this one for dead.
type row struct {
	// began is when Temporal had answered the first one, and last when the last one was sent.
	began, last time.Time
}

// next is the row after a sign that was sent, and answered with an error or without. A process
// that stood still meanwhile cannot tell when its sign arrived, so it counts the whole time.
func (r *row) next(sent, answered time.Time, err error) *row {
	switch {
	case errtype.Is[*serviceerror.Unimplemented](err): // no sign is kept, and no worker is judged
		return nil
	case err != nil && r == nil:
		return &row{}
	case err != nil:
		return r
	case r == nil || answered.Sub(r.last) > tuning.SignTrusted:
		return &row{began: answered, last: sent}
	default:
		return &row{began: r.began, last: sent}
	}
}

// seen reports whether those who look each second have seen a sign of the row, and see one now.
func (r *row) seen(now time.Time) bool {
	return r == nil || now.Sub(r.began) >= tuning.SignEvery && now.Sub(r.last) <= tuning.SignTrusted
}

// broken reports whether the row began after a moment, or has ended.
func (r *row) broken(since, now time.Time) bool {
	return r != nil && (since.Before(r.began) || now.Sub(r.last) > tuning.SignTrusted)
}

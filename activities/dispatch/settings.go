package dispatch

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// settings are the present settings of a shard.
type settings struct {
	memo     dispatch.Memo
	policy   policy.Policy
	callback delivery.Callback
	retry    delivery.Retry
	tls      *policy.TLS
	declare  *delivery.Declare
	// paused reports whether no receiver can be called for now: the callbacks of the
	// business type are paused, its receivers connect by themselves, or there is none.
	paused bool
	// inFlight bounds the callbacks under way of the business type in this process.
	inFlight int
	// speaks reports whether the receiver speaks for its business type.
	speaks bool
}

var errUncalled = errors.New("neither the dispatch nor its policy has a callback")

// readSettings reads the settings of a shard, not before since. A dispatch that has ended is
// [wire.NotFound]. With [errUncalled] come the other settings, which hold all the same.
func (e *Executor) readSettings(ctx context.Context, key wire.Key, since time.Time) (*settings, error) {
	memo, err := e.Store.Read(ctx, key, since)
	if err != nil {
		return nil, err
	}
	policy, err := e.Policies.Policy(ctx, key.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return nil, unavailable(err)
	}
	paused, err := e.Emergencies.Paused(ctx, key.BusinessType)
	if err != nil {
		return nil, unavailable(err)
	}
	s := &settings{memo: memo, paused: paused, inFlight: policy.Limits.InFlight}
	if s.inFlight == 0 {
		s.inFlight = tuning.DispatchInFlight
	}
	s.policy = policy.WithDefaults()
	s.policy.BusinessType = key.BusinessType
	err = e.configure(s)
	return s, err
}

func (e *Executor) configure(s *settings) error {
	own, order := delivery.Callback{}, s.memo.Order
	if order.Callback != nil {
		own = *order.Callback
		own.Headers = maps.Clone(own.Headers)
		for _, name := range slices.Sorted(maps.Keys(own.Headers)) {
			value, err := e.Opener.Open(own.Headers[name])
			if err != nil {
				return unavailable(err)
			}
			own.Headers[name] = value
		}
	}
	s.callback = own.Over(s.policy.Callback)
	s.callback.Destination = s.callback.Routed(s.policy.BusinessType)
	s.paused = s.paused || s.callback.Stream || !s.callback.Addressed()
	s.retry = s.policy.Retry
	if order.Retry != nil {
		s.retry = order.Retry.WithDefaults()
	}
	s.tls, s.declare = s.policy.TLS, s.policy.Declare
	if own.Addressed() {
		s.tls, s.declare = s.policy.TLS.Trust(), nil
	}
	s.speaks = s.policy.Version != 0 && s.callback.Destination == s.policy.Callback.Routed(s.policy.BusinessType)
	if !s.callback.Addressed() {
		return unavailable(errUncalled)
	}
	return nil
}

// unavailable is an error that leaves the shard unchanged: there may be an answer later.
func unavailable(cause error) error {
	return &wire.Error{Code: wire.Unavailable, Message: "The dispatch cannot continue for now.", Cause: cause}
}

// retryAfter is how long nothing is sent at an answer's request.
func (s *settings) retryAfter(verdict delivery.Verdict, status int) time.Duration {
	asked := verdict.RetryAfter
	if status == http.StatusTooManyRequests {
		asked = max(asked, tuning.DispatchPatience)
	}
	return min(asked, s.policy.LongestBackPressure())
}

package policy

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// CheckReach returns what is wrong with the destinations of a policy. It skips those that old
// has too.
func CheckReach(r delivery.Reach, p, old Policy) (errs wire.FieldErrors) {
	if p.Callback.Destination != old.Callback.Destination {
		errs.Under("/callback", r.Destination(p.Callback.Destination))
	}
	for _, one := range []struct {
		pointer  string
		now, was *delivery.Alert
	}{{"/alert", p.Alert, old.Alert}, {"/on_delivered", p.OnDelivered, old.OnDelivered}, {"/on_failed", p.OnFailed, old.OnFailed}} {
		if one.now != nil && (one.was == nil || one.now.Destination != one.was.Destination) {
			errs.Under(one.pointer, r.Destination(one.now.Destination))
		}
	}
	if p.Fallback != nil && (old.Fallback == nil || p.Fallback.Destination != old.Fallback.Destination) {
		errs.Under("/fallback", r.Destination(p.Fallback.Destination))
	}
	return errs
}

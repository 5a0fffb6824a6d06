package dispatch_test

import (
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// Values of every stored type, with every field set. They combine fields that exclude one
// another in a request, such as steps and an exponential ladder.

func clock(hour int) wire.Instant {
	return wire.At(noon.Add(time.Duration(hour)*time.Hour + 7*time.Millisecond))
}

func limited(perSecond float64, claims ...policy.Claim) policy.Policy {
	return policy.Policy{Limits: policy.Limits{CallbacksPerSecond: &perSecond}, Claims: claims}
}

func claimed(dispatch string, perSecond float64, since time.Duration) policy.Claim {
	at := wire.At(noon)
	return policy.Claim{Dispatch: dispatch, PerSecond: perSecond, Since: at.Add(since), Until: at.Add(time.Minute)}
}

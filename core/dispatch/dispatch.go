package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Dispatch is an order to call a business type's receiver for each of many items, at one
// rate of all workers together.
type Dispatch struct {
	wire.Key
	// PerSecond is how many items a second are sent, also where several travel in one
	// callback. Fractions are fine.
	PerSecond float64 `json:"per_second"`
	// DueAt, Delay and Recurrence exclude one another; without one it begins at once.
	DueAt      *wire.Instant    `json:"due_at,omitempty"`
	Delay      *wire.Duration   `json:"delay,omitempty"`
	Recurrence *recurrence.Rule `json:"recurrence,omitempty"`
	// LatestAt is when it ends, whatever is left.
	LatestAt *wire.Instant `json:"latest_at,omitempty"`
	// WarmUp is the time over which it rises to its rate.
	WarmUp wire.Duration `json:"warm_up,omitzero"`
	// Per is what one callback is for, and PageSize how many items it has at most where
	// that is a page.
	Per      Per `json:"callback_per,omitzero"`
	PageSize int `json:"page_size,omitzero"`
	// Callback and Retry override the policy's.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	// Loader tells where the items are asked for; nil where the client brings them.
	Loader *Loader `json:"loader,omitempty"`
}

// Per is what one callback of a dispatch is for.
type Per string

// The closed list of what a callback may be for.
const (
	// PerItem: the body is the payload of one item.
	PerItem Per = "item"
	// PerPage: the body names several items, and the answer has a verdict for each.
	PerPage Per = "page"
)

// Pers lists what a callback may be for.
func Pers() []Per { return []Per{PerItem, PerPage} }

// Change is a change of a dispatch that runs.
type Change struct {
	PerSecond *float64 `json:"per_second,omitempty"`
	// Paused stops it, or lets it go on.
	Paused *bool `json:"paused,omitempty"`
}

// Check returns what is wrong with the change.
func (c Change) Check() (errs wire.FieldErrors) {
	wire.EnforceGiven(&errs, fieldDispatchRate, c.PerSecond)
	return errs
}

// The fields of a dispatch.
var (
	fieldDispatchRate = wire.Field{Pointer: "/per_second", Lowest: MinRate, Highest: float64(MaxRate)}
	fieldWarmUp       = wire.Field{Pointer: "/warm_up", Lowest: wire.Duration(0), Highest: wire.Duration(MaxWarmUp), Default: wire.Duration(0)}
	fieldPageSize     = wire.Field{Pointer: "/page_size", Lowest: 1, Highest: MaxPage, Default: DefaultPage}
	fieldShards       = wire.Field{Pointer: "/shards", Lowest: 1, Highest: MaxShards, Default: 1}
	fieldPer          = wire.Field{Pointer: "/callback_per", Default: string(PerItem)}
)

// Fields are the fields of an order.
func Fields() []wire.Field {
	return append(
		[]wire.Field{fieldDispatchRate, timer.FieldDelay, fieldWarmUp, fieldPer, fieldPageSize},
		append(append(wire.FieldsUnder("/callback", delivery.CallbackFields()), wire.FieldsUnder("/retry", delivery.RetryFields())...),
			append(wire.FieldsUnder("/recurrence", recurrence.Fields()), wire.FieldsUnder("/loader", []wire.Field{delivery.FieldURL, fieldShards, fieldPageSize, delivery.FieldTimeout})...)...)...)
}

// WithDefaults fills what the order leaves out.
func (d Dispatch) WithDefaults() Dispatch {
	if d.Per == "" {
		d.Per = PerItem
	}
	if d.Per == PerPage && d.PageSize == 0 {
		d.PageSize = DefaultPage
	}
	if d.Loader != nil {
		loader := *d.Loader
		loader.Shards = max(loader.Shards, 1)
		if loader.PageSize == 0 {
			loader.PageSize = DefaultPage
		}
		if loader.Timeout == 0 {
			loader.Timeout = wire.Duration(delivery.DefaultAttemptTimeout)
		}
		d.Loader = &loader
	}
	return d
}

// Fingerprint is a digest of the order as the client put it.
func (d Dispatch) Fingerprint() string {
	text, _ := json.Marshal(d) // it holds no channel, function or cycle
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Check returns what is wrong with the order, field by field.
func (d Dispatch) Check(now time.Time) (errs wire.FieldErrors) {
	errs = d.Key.Check()
	if math.IsNaN(d.PerSecond) {
		errs = append(errs, fieldDispatchRate.FieldError())
	} else {
		wire.Enforce(&errs, fieldDispatchRate, d.PerSecond)
	}
	terms := timer.Terms{DueAt: d.DueAt, Delay: d.Delay, Recurrence: d.Recurrence, LatestAt: d.LatestAt, Callback: d.Callback, Retry: d.Retry}
	errs = append(errs, terms.Check(now)...)
	if due, ok := terms.Due(now); ok && d.LatestAt != nil && *d.LatestAt <= due {
		errs.Add("/latest_at", wire.CodeOutOfRange, "must be after the due time")
	}
	wire.Enforce(&errs, fieldWarmUp, d.WarmUp)
	errs = append(errs, d.checkPer()...)
	if d.Loader != nil {
		errs.Under("/loader", d.Loader.check())
	}
	return errs
}

func (d Dispatch) checkPer() (errs wire.FieldErrors) {
	switch d.Per {
	case "", PerItem:
		if d.PageSize != 0 {
			errs.Add("/page_size", wire.CodeConflict, "goes with callback_per page")
		}
	case PerPage:
		wire.EnforceNonZero(&errs, fieldPageSize, d.PageSize)
		if d.Callback != nil && d.Callback.Addressed() && d.Callback.Kind() != delivery.DestinationHTTP {
			errs.Add("/callback_per", wire.CodeConflict, "page needs a callback by HTTP: a broker gives no verdicts")
		}
	default:
		errs.Add("/callback_per", wire.CodeInvalidParameter, "must be item or page")
	}
	return errs
}

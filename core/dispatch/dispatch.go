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

// Dispatch is an order to call a business type's receiver for each of many items, at one rate
// for all workers together.
type Dispatch struct {
	wire.Key
	// PerSecond is the number of items a second, even if several travel in one callback. It may
	// be a fraction.
	PerSecond float64 `json:"per_second"`
	// DueAt, Delay and Recurrence exclude one another. Without any, it begins at once.
	DueAt      *wire.Instant    `json:"due_at,omitempty"`
	Delay      *wire.Duration   `json:"delay,omitempty"`
	Recurrence *recurrence.Rule `json:"recurrence,omitempty"`
	// LatestAt is when it ends, even if items are left.
	LatestAt *wire.Instant `json:"latest_at,omitempty"`
	// WarmUp is the time in which it rises to its rate.
	WarmUp wire.Duration `json:"warm_up,omitzero"`
	// Per is the unit of one callback. PageSize is the largest number of items in it, if it is a
	// page.
	Per      Per `json:"callback_per,omitzero"`
	PageSize int `json:"page_size,omitzero"`
	// Callback and Retry override the policy's.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	// Loader is the source of the items; nil if the client provides them.
	Loader *Loader `json:"loader,omitempty"`
}

// Per is the unit of one callback of a dispatch.
type Per string

// The closed list of units.
const (
	// PerItem: the body is the payload of one item.
	PerItem Per = "item"
	// PerPage: the body names several items, and the answer has a verdict for each.
	PerPage Per = "page"
)

// Pers lists every unit.
func Pers() []Per { return []Per{PerItem, PerPage} }

// Change changes a running dispatch.
type Change struct {
	PerSecond *float64 `json:"per_second,omitempty"`
	// Paused stops or resumes it.
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

// Fields returns the fields of an order.
func Fields() []wire.Field {
	return append(
		[]wire.Field{fieldDispatchRate, timer.FieldDelay, fieldWarmUp, fieldPer, fieldPageSize},
		append(append(wire.FieldsUnder("/callback", delivery.CallbackFields()), wire.FieldsUnder("/retry", delivery.RetryFields())...),
			append(wire.FieldsUnder("/recurrence", recurrence.Fields()),
				wire.FieldsUnder("/loader", []wire.Field{delivery.FieldURL, fieldShards, fieldPageSize, delivery.FieldTimeout})...)...)...)
}

// WithDefaults returns the order with its defaults filled in.
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

// Fingerprint returns a digest of the client's order.
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
			errs.AddBeside("/page_size", wire.CodeConflict, "is allowed only with callback_per page", "/callback_per")
		}
	case PerPage:
		wire.EnforceNonZero(&errs, fieldPageSize, d.PageSize)
		errs = append(errs, d.CheckVerdicts(delivery.Callback{})...)
	default:
		errs.Add("/callback_per", wire.CodeInvalidParameter, "must be item or page")
	}
	return errs
}

// CheckVerdicts refuses pages for a receiver that gives no verdicts on their items. The policy's
// callback is used if the order names none; it may be empty.
func (d Dispatch) CheckVerdicts(policys delivery.Callback) (errs wire.FieldErrors) {
	to := policys.Destination
	if d.Callback != nil && d.Callback.Addressed() {
		to = d.Callback.Destination
	}
	if d.Per == PerPage && to.Addressed() && to.Kind() != delivery.DestinationHTTP {
		errs.Add("/callback_per", wire.CodeConflict, "page needs a callback by HTTP: a broker gives no verdicts")
	}
	return errs
}

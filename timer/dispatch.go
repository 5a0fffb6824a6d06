package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"time"
)

// Dispatch is an order to call a business type's receiver for each of many items, at one
// rate of all workers together.
type Dispatch struct {
	Key
	// PerSecond is how many items a second are sent, also where several travel in one
	// callback. Fractions are fine.
	PerSecond float64 `json:"per_second"`
	// DueAt, Delay and Recurrence exclude one another; without one it begins at once.
	DueAt      *Instant    `json:"due_at,omitempty"`
	Delay      *Duration   `json:"delay,omitempty"`
	Recurrence *Recurrence `json:"recurrence,omitempty"`
	// LatestAt is when it ends, whatever is left.
	LatestAt *Instant `json:"latest_at,omitempty"`
	// WarmUp is the time over which it rises to its rate.
	WarmUp Duration `json:"warm_up,omitzero"`
	// Per is what one callback is for, and PageSize how many items it has at most where
	// that is a page.
	Per      DispatchPer `json:"callback_per,omitzero"`
	PageSize int         `json:"page_size,omitzero"`
	// Callback and Retry override the policy's.
	Callback *Callback `json:"callback,omitempty"`
	Retry    *Retry    `json:"retry,omitempty"`
	// Loader tells where the items are asked for; nil where the client brings them.
	Loader *DispatchLoader `json:"loader,omitempty"`
}

// DispatchPer is what one callback of a dispatch is for.
type DispatchPer string

// The closed list of what a callback may be for.
const (
	// PerItem: the body is the payload of one item.
	PerItem DispatchPer = "item"
	// PerPage: the body names several items, and the answer has a verdict for each.
	PerPage DispatchPer = "page"
)

// DispatchPers lists what a callback may be for.
func DispatchPers() []DispatchPer { return []DispatchPer{PerItem, PerPage} }

// DispatchLoader is a URL of the client's that answers the items of a dispatch page by
// page: those of a shard from a cursor on. The same cursor has to answer the same page.
type DispatchLoader struct {
	URL    string `json:"url"`
	Shards int    `json:"shards,omitzero"`
	// PageSize is how many items are asked for at once.
	PageSize int `json:"page_size,omitzero"`
	// Timeout bounds one question.
	Timeout Duration `json:"timeout,omitzero"`
}

// DispatchChange is a change of a dispatch that runs.
type DispatchChange struct {
	PerSecond *float64 `json:"per_second,omitempty"`
	// Paused stops it, or lets it go on.
	Paused *bool `json:"paused,omitempty"`
}

// Check returns what is wrong with the change.
func (c DispatchChange) Check() (errs FieldErrors) {
	enforceGiven(&errs, fieldDispatchRate, c.PerSecond)
	return errs
}

// The fields of a dispatch.
var (
	fieldDispatchRate = Field{Pointer: "/per_second", Lowest: MinDispatchRate, Highest: float64(MaxDispatchRate)}
	fieldWarmUp       = Field{Pointer: "/warm_up", Lowest: Duration(0), Highest: Duration(MaxWarmUp), Default: Duration(0)}
	fieldPageSize     = Field{Pointer: "/page_size", Lowest: 1, Highest: MaxDispatchPage, Default: DefaultDispatchPage}
	fieldShards       = Field{Pointer: "/shards", Lowest: 1, Highest: MaxDispatchShards, Default: 1}
	fieldPer          = Field{Pointer: "/callback_per", Default: string(PerItem)}
)

// DispatchFields are the fields of an order.
func DispatchFields() []Field {
	return append(
		[]Field{fieldDispatchRate, fieldDelay, fieldWarmUp, fieldPer, fieldPageSize},
		append(append(under("/callback", callbackFields()), under("/retry", retryFields())...),
			append(under("/recurrence", recurrenceFields()), under("/loader", []Field{fieldURL, fieldShards, fieldPageSize, fieldTimeout})...)...)...)
}

// WithDefaults fills what the order leaves out.
func (d Dispatch) WithDefaults() Dispatch {
	if d.Per == "" {
		d.Per = PerItem
	}
	if d.Per == PerPage && d.PageSize == 0 {
		d.PageSize = DefaultDispatchPage
	}
	if d.Loader != nil {
		loader := *d.Loader
		loader.Shards = max(loader.Shards, 1)
		if loader.PageSize == 0 {
			loader.PageSize = DefaultDispatchPage
		}
		if loader.Timeout == 0 {
			loader.Timeout = Duration(DefaultAttemptTimeout)
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
func (d Dispatch) Check(now time.Time) (errs FieldErrors) {
	errs = d.Key.Check()
	if math.IsNaN(d.PerSecond) {
		errs = append(errs, fieldDispatchRate.FieldError())
	} else {
		enforce(&errs, fieldDispatchRate, d.PerSecond)
	}
	terms := Terms{DueAt: d.DueAt, Delay: d.Delay, Recurrence: d.Recurrence, LatestAt: d.LatestAt, Callback: d.Callback, Retry: d.Retry}
	errs = append(errs, terms.Check(now)...)
	if due, ok := terms.Due(now); ok && d.LatestAt != nil && *d.LatestAt <= due {
		errs.Add("/latest_at", CodeOutOfRange, "must be after the due time")
	}
	enforce(&errs, fieldWarmUp, d.WarmUp)
	errs = append(errs, d.checkPer()...)
	if d.Loader != nil {
		errs.Under("/loader", d.Loader.check())
	}
	return errs
}

func (d Dispatch) checkPer() (errs FieldErrors) {
	switch d.Per {
	case "", PerItem:
		if d.PageSize != 0 {
			errs.Add("/page_size", CodeConflict, "goes with callback_per page")
		}
	case PerPage:
		enforceNonZero(&errs, fieldPageSize, d.PageSize)
		if d.Callback != nil && d.Callback.Addressed() && d.Callback.Kind() != DestinationHTTP {
			errs.Add("/callback_per", CodeConflict, "page needs a callback by HTTP: a broker gives no verdicts")
		}
	default:
		errs.Add("/callback_per", CodeInvalidParameter, "must be item or page")
	}
	return errs
}

func (l DispatchLoader) check() (errs FieldErrors) {
	if l.URL == "" {
		errs.Add("/url", CodeRequired, "is required")
	} else if why := checkURL(l.URL); why != "" {
		errs.Add("/url", CodeInvalidURL, why)
	} else if name := l.clash(); name != "" {
		errs.Add("/url", CodeConflict, "must not have the parameter "+name+": Wakecall appends its own")
	}
	enforceNonZero(&errs, fieldShards, l.Shards)
	enforceNonZero(&errs, fieldPageSize, l.PageSize)
	enforceNonZero(&errs, fieldTimeout, l.Timeout)
	return errs
}

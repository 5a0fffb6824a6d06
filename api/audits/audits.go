package audits

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Entry is what the audit records of a call that changes something. The methods of a nil entry do
// nothing.
type Entry struct {
	trail.Record
	Caller *auth.Principal // nil for an unknown caller
	// terms are the terms of a change, and found is the timer before it.
	terms *timer.Terms
	found *timer.Memo
	// body is the body of the request, if that is one object.
	body map[string]jsontext.Value
	// withheld reports whether what is recorded was left out of the answer.
	withheld bool
	// end keeps the record of a call that was begun; nil before that.
	end func(*trail.Record)
}

// EntryKey is the key of the [Entry] in the context of a request.
type EntryKey struct{}

// EntryOf returns the entry of a request. It is nil if nothing is recorded, or if the caller is
// not known yet.
func EntryOf(c echo.Context) *Entry {
	e, _ := c.Request().Context().Value(EntryKey{}).(*Entry)
	return e
}

// NewEntry returns the entry of a request, with what its head says.
func NewEntry(c echo.Context, method, route string) *Entry {
	return &Entry{Record: trail.Record{
		ID: uuid.NewString(), At: wire.At(time.Now()), From: c.RealIP(), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
		Method: method, Route: route, Target: targetIn(c),
	}}
}

// ActorOf returns the caller, in its role for business types: the least of its roles for each. known is
// false without a caller.
func ActorOf(caller *auth.Principal, businessType string, more ...string) (actor wire.Actor, known bool) {
	if caller == nil {
		return wire.Actor{}, false
	}
	actor = wire.Actor{Name: caller.Name, ID: caller.ID, By: string(caller.By), Via: caller.Via}
	role := caller.Role(businessType)
	for _, other := range more {
		role = min(role, caller.Role(other))
	}
	if role > auth.NoRole {
		actor.Role = role.String()
	}
	return actor, true
}

// identify writes who calls into the record.
func (e *Entry) identify() {
	businessType, more := e.Target.BusinessType, e.Target.BusinessTypes
	if businessType == "" && len(more) > 0 {
		businessType, more = more[0], more[1:]
	}
	if actor, known := ActorOf(e.Caller, businessType, more...); known {
		e.Who = &actor
	}
}

// Record has every call that changes something recorded, once, also where it is refused.
// changing is the call that a request makes, if it changes something.
func Record(log *audit.Log, changing func(echo.Context) (method, route string, ok bool)) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if !log.On() {
			return next
		}
		return func(c echo.Context) error {
			method, route, ok := changing(c)
			if !ok {
				return next(c)
			}
			err := next(c)
			if errors.Is(err, audit.ErrClosed) {
				return err
			}
			e := EntryOf(c)
			if e == nil { // it was refused before it was known who calls
				e = NewEntry(c, method, route)
			}
			e.close(c, err)
			e.write(log)
			audit.FormOf(c.Request().Context()).SetRecorded()
			return err
		}
	}
}

// Begin notes a call that is about to be carried out, once it is known who makes it. One
// that cannot be recorded is not carried out.
func Begin(log *audit.Log) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if !log.On() {
			return next
		}
		return func(c echo.Context) (err error) {
			e := EntryOf(c)
			if e == nil {
				return next(c)
			}
			e.identify()
			intent := e.Record
			if e.end, err = log.Begin(&intent); err != nil {
				return unrecorded(err)
			}
			return next(c)
		}
	}
}

// write writes the record. A call that was refused before it was begun has done nothing, and is
// refused as it is where it cannot be recorded.
func (e *Entry) write(log *audit.Log) {
	if e.end == nil {
		end, err := log.Begin(&e.Record)
		if err != nil {
			return
		}
		e.end = end
	}
	e.end(&e.Record)
}

func unrecorded(err error) error {
	return &wire.Error{
		Code: wire.Unavailable, Cause: err,
		Message: "The audit cannot record the call, so nothing was done. Repeat the request later.",
	}
}

// close notes how the call is answered.
func (e *Entry) close(c echo.Context, err error) {
	status, problem := c.Response().Status, wire.Code("")
	if err != nil {
		document := problems.DocumentOf(err)
		status, problem = document.Status, document.Code()
		if document.Timer != nil {
			e.Revision = document.Timer.Revision
		}
	}
	audit.Answer(&e.Record, status, problem)
	if e.withheld && err == nil {
		e.Outcome, e.Problem = trail.Refused, problems.Forbidden
	}
	e.aim()
	e.identify()
	e.change()
}

// change notes which fields the call names.
func (e *Entry) change() {
	switch {
	case e.terms != nil:
		e.Changes = e.terms.Changes(e.found)
	case e.Changes == nil && e.Outcome != trail.Refused: // what was refused may name anything
		for _, name := range slices.Sorted(maps.Keys(e.body)) {
			e.AddField(name, valueOf(name, e.body[name]))
		}
	}
}

// toldFields are the fields of orders whose values are recorded.
var toldFields = []string{"business_types", "counted", "dry_run", "everything", "filter", "operation", "per_second", "shift"}

// valueOf is the value of a field of an order, nil where it is not told.
func valueOf(name string, raw jsontext.Value) (value any) {
	if slices.Contains(toldFields, name) {
		_ = json.Unmarshal(raw, &value) // it was read before
	}
	return value
}

// targetIn is what the path of a request names.
func targetIn(c echo.Context) (target trail.Target) {
	for _, name := range c.ParamNames() {
		value := wire.Clip(paths.Param(c, name), tuning.LoggedBytes)
		switch {
		case name == paths.Type:
			target.BusinessType = value
		case name == paths.ID && target.BusinessType != "":
			target.BusinessID = value
		default:
			target.ID = value
		}
	}
	return target
}

// SetKey notes which timer or dispatch a call is about that its path does not name.
func (e *Entry) SetKey(key wire.Key) {
	if e != nil {
		e.Target.BusinessType, e.Target.BusinessID = key.BusinessType, key.BusinessID
	}
}

// SetJob notes which job a call is about.
func (e *Entry) SetJob(businessType, id string) {
	if e != nil {
		e.Target.BusinessType, e.Target.ID = businessType, id
	}
}

// SetTerms notes what a change of a timer says.
func (e *Entry) SetTerms(terms timer.Terms) {
	if e != nil { // else it is not moved to the heap
		e.terms = new(timer.Terms)
		*e.terms = terms
	}
}

// SetTimer notes the timer that a call has left, and the one that it came upon.
func (e *Entry) SetTimer(view timer.View) {
	if e == nil {
		return
	}
	e.SetKey(view.Key)
	e.Revision, e.found = view.Revision, view.Found
	if view.Found != nil {
		e.RevisionBefore = view.Found.Revision
	}
	if view.Unchanged {
		e.SetUnchanged()
	}
}

// SetTypes notes the business types that a call is about, or that it is about everything.
func (e *Entry) SetTypes(everything bool, businessTypes []string) {
	if e != nil {
		e.Target.Everything, e.Target.BusinessTypes = everything, businessTypes
	}
}

// SetItems notes the results for the timers of a batch, and the business types that they are of.
func (e *Entry) SetItems(items []trail.Item) {
	if e == nil {
		return
	}
	types := make([]string, 0, len(items))
	for _, item := range items {
		types = append(types, item.BusinessType)
	}
	e.Items, e.Target.BusinessTypes = items, severalOf(types)
}

// SetBody notes the body of a call.
func (e *Entry) SetBody(body map[string]jsontext.Value) {
	if e != nil {
		e.body = maps.Clone(body) // who reads it takes parts of it away
	}
}

// AddField notes a field and its value.
func (e *Entry) AddField(field string, value any) {
	if e != nil && value != "" {
		e.Changes = append(e.Changes, timer.FieldChange{Field: field, To: value})
	}
}

// SetUnchanged notes that the call has changed nothing.
func (e *Entry) SetUnchanged() {
	if e != nil {
		e.Outcome = trail.Unchanged
	}
}

// SetWithheld notes that the answer leaves out what the record is about, since the caller lacks the right.
func (e *Entry) SetWithheld() {
	if e != nil {
		e.withheld = true
	}
}

// SetRevised adds the new revision of a policy, and what changed. A new policy has no revision
// before.
func (e *Entry) SetRevised(revision int, isNew bool, changes []policy.Difference) {
	if e == nil {
		return
	}
	e.Revision = revision
	for _, change := range changes {
		e.Changes = append(e.Changes, timer.FieldChange{Field: change.Pointer, From: change.From, To: change.To})
	}
	if !isNew {
		e.RevisionBefore = revision - 1
	}
}

// SetPlanned notes what a call would have changed of a policy, or that there is nothing to change.
func (e *Entry) SetPlanned(revision int, changes []policy.Difference) {
	if e != nil {
		e.SetRevised(revision, true, changes)
		e.RevisionBefore = revision
		e.SetUnchanged()
	}
}

// Begun reports whether the call is carried out and recorded.
func (e *Entry) Begun() bool { return e != nil && e.end != nil }

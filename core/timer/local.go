package timer

import (
	"time"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/wire"
)

// Local is a due time by a wall clock, as the client gave it.
type Local struct {
	Due      wire.Wall `json:"due"`
	Timezone string    `json:"timezone"`
}

// local returns the due time by a wall clock; nil if the terms have none.
func (t Terms) local() *Local {
	if t.DueLocal == nil {
		return nil
	}
	return &Local{Due: *t.DueLocal, Timezone: t.Timezone}
}

// FixLocalDue returns the terms with the moment of a local due time. The booking fixes it, because
// later readers may have other time zones or lack this field.
func (t Terms) FixLocalDue() Terms {
	if due, ok := t.Due(time.Time{}); ok && t.DueLocal != nil {
		t.DueAt = &due
	}
	return t
}

func (t Terms) checkLocal() (errs wire.FieldErrors) {
	switch {
	case t.DueLocal == nil && t.Timezone != "":
		errs.AddBeside("/timezone", wire.CodeConflict, "is allowed only with due_local; a recurrence has its own timezone", "/due_local")
	case t.DueLocal == nil:
	case t.DueAt != nil || t.Delay != nil:
		errs.Add("/due_local", wire.CodeConflict, "give one of due_at, due_local, delay and recurrence")
	case t.Timezone == "":
		errs.Add("/timezone", wire.CodeRequired, "is required beside due_local")
	default:
		if err := calendar.CheckTimezone(t.Timezone); err != nil {
			errs.Add("/timezone", wire.CodeInvalidTime, err.Error())
		}
	}
	return errs
}

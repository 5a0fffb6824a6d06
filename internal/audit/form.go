package audit

import (
	"context"
	"net/http"
	"sync"

	"github.com/wakecall/wakecall/internal/auth"
)

// Asked is what a form of the console asks for.
type Asked struct {
	// Who sent it; nil for an unknown caller.
	Who *auth.Principal
	// Route is the template of the path, as in a record.
	Route string
	// BusinessType, BusinessID and ID are what the form names.
	BusinessType, BusinessID, ID string
	// Everything reports whether it concerns all business types.
	Everything bool
	// Action is what the path names of several that it may; "" for one that has no choice.
	Action string
}

// Refusal is a change that was not made, with the status that says why.
type Refusal struct {
	Asked

	Status int
}

// Form is a form of the console on its way. What a call of the API records is recorded. A form that is
// refused before any call leaves a record too, for which it is described here. The methods of a nil
// Form do nothing. It is safe for concurrent use.
type Form struct {
	mu    sync.Mutex
	asked *Asked // nil for a form that changes nothing
	// parts are the refused ones of several changes in one form.
	parts    []Refusal
	recorded bool
}

type formKey struct{}

// WithForm returns a context with a form that is on its way.
func WithForm(ctx context.Context) (context.Context, *Form) {
	f := &Form{}
	return context.WithValue(ctx, formKey{}, f), f
}

// FormOf returns the form of a context; nil for none.
func FormOf(ctx context.Context) *Form {
	f, _ := ctx.Value(formKey{}).(*Form)
	return f
}

// Describe notes what the form asks for. The first description holds.
func (f *Form) Describe(asked Asked) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = &asked
	}
}

// RefusePart notes that one of the changes in the form was refused before its call.
func (f *Form) RefusePart(part Refusal) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = append(f.parts, part)
}

// SetRecorded notes that a call of the form is recorded.
func (f *Form) SetRecorded() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorded = true
}

// Refusals returns what is to be recorded of a form that was answered with this status. The answer to
// an unknown caller may be a way to sign in, and is a refusal.
func (f *Form) Refusals(status int) []Refusal {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil || f.recorded || len(f.parts) > 0 {
		return f.parts
	}
	if f.asked.Who == nil && status < http.StatusBadRequest {
		status = http.StatusUnauthorized
	}
	if status < http.StatusBadRequest {
		return nil
	}
	return []Refusal{{*f.asked, status}}
}

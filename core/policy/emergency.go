package policy

import (
	"slices"
	"strconv"

	"github.com/wakecall/wakecall/core/wire"
)

// Emergency stops the callbacks of one business type, or of all types, until a caller resumes
// them. Bookings go on.
type Emergency struct {
	// Everything reports whether it stops all business types; else BusinessType is set.
	Everything   bool   `json:"everything,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
	// Author is the caller who paused, if known, and Note the reason.
	Author string       `json:"author"`
	Note   string       `json:"note,omitzero"`
	Since  wire.Instant `json:"since"`
	// ByPolicy reports whether the pause is in the policy of the type and not an emergency. It
	// is not stored.
	ByPolicy bool `json:"by_policy,omitzero"`
}

// Held lists pauses by emergencies and, after a resumption, pauses by policies.
type Held struct {
	Paused []Emergency `json:"paused"`
	// Incomplete reports whether the list may lack entries because Temporal did not answer. The
	// resumption is in force all the same.
	Incomplete bool `json:"incomplete,omitzero"`
}

// PausedByPolicy returns the pause in a policy; paused is false if there is none.
func PausedByPolicy(policy Policy) (_ Emergency, paused bool) {
	return Emergency{BusinessType: policy.BusinessType, Author: policy.PausedBy, Since: policy.PausedAt, ByPolicy: true}, policy.Paused
}

// EmergencyOrder pauses or resumes everything, or the listed types.
type EmergencyOrder struct {
	Everything    bool
	BusinessTypes []string
	Author, Note  string
}

// Check returns what is wrong with the order, field by field.
func (o EmergencyOrder) Check() (errs wire.FieldErrors) {
	switch {
	case o.Everything && o.BusinessTypes != nil:
		errs.Add("/business_types", wire.CodeConflict, "give either everything or business_types")
	case !o.Everything && len(o.BusinessTypes) == 0:
		errs.AddBeside("/business_types", wire.CodeRequired, "give everything, or at least one business type", "/everything")
	}
	if !wire.EnforceLength(&errs, ListEmergencies, "/business_types", len(o.BusinessTypes)) {
		return errs
	}
	for i, businessType := range o.BusinessTypes {
		for _, wrong := range wire.CheckBusinessType(businessType) {
			wrong.Pointer = "/business_types/" + strconv.Itoa(i)
			errs = append(errs, wrong)
		}
	}
	if len(o.Note) > wire.MaxNote {
		errs.AddMost("/note", wire.MaxNote, "bytes")
	}
	return errs
}

// Covers reports whether the order covers a business type.
func (o EmergencyOrder) Covers(businessType string) bool {
	return o.Everything || slices.Contains(o.BusinessTypes, businessType)
}

// Emergencies returns the pauses of the order, from a moment on.
func (o EmergencyOrder) Emergencies(since wire.Instant) (all []Emergency) {
	if o.Everything {
		return []Emergency{{Everything: true, Author: o.Author, Note: o.Note, Since: since}}
	}
	for _, businessType := range slices.Compact(slices.Sorted(slices.Values(o.BusinessTypes))) {
		all = append(all, Emergency{BusinessType: businessType, Author: o.Author, Note: o.Note, Since: since})
	}
	return all
}

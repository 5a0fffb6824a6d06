package policy

import (
	"slices"
	"strconv"

	"github.com/wakecall/wakecall/core/wire"
)

// Emergency holds the callbacks of one business type back, or those of all, until
// somebody resumes them. It says nothing of bookings, which go on.
type Emergency struct {
	// Everything reports whether it is for all business types; else BusinessType is set.
	Everything   bool   `json:"everything,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
	// Author is who paused, as far as the API knows, and Note why.
	Author string       `json:"author"`
	Note   string       `json:"note,omitzero"`
	Since  wire.Instant `json:"since"`
	// ByPolicy reports whether the policy of the type pauses it, and no emergency. It is not stored.
	ByPolicy bool `json:"by_policy,omitzero"`
}

// Held is what emergencies hold back and, after a resumption, what else does.
type Held struct {
	Paused []Emergency `json:"paused"`
	// Incomplete reports whether more may be held back after a resumption: Temporal did not
	// tell. The resumption is in force all the same.
	Incomplete bool `json:"incomplete,omitzero"`
}

// PausedByPolicy is what a policy pauses; paused is false for nothing.
func PausedByPolicy(policy Policy) (_ Emergency, paused bool) {
	return Emergency{BusinessType: policy.BusinessType, Author: policy.PausedBy, Since: policy.PausedAt, ByPolicy: true}, policy.Paused
}

// EmergencyOrder pauses or resumes: everything, or the types that it lists.
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
		errs.Add("/business_types", wire.CodeRequired, "give everything, or at least one business type")
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

// Names reports whether the order is about a business type.
func (o EmergencyOrder) Names(businessType string) bool {
	return o.Everything || slices.Contains(o.BusinessTypes, businessType)
}

// Emergencies are what the order pauses from a moment on.
func (o EmergencyOrder) Emergencies(since wire.Instant) (all []Emergency) {
	if o.Everything {
		return []Emergency{{Everything: true, Author: o.Author, Note: o.Note, Since: since}}
	}
	for _, businessType := range slices.Compact(slices.Sorted(slices.Values(o.BusinessTypes))) {
		all = append(all, Emergency{BusinessType: businessType, Author: o.Author, Note: o.Note, Since: since})
	}
	return all
}

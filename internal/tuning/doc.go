// Package tuning holds every number that was measured or chosen, with its unit and its reason.
// If a decision record has the measurement, it is named ("0008" is docs/decisions/0008-…). A
// number without a record was chosen for the stated reason.
//
// Limits that users meet are with the contract instead: in the files limits.go of the core and in
// api/limits. Operators' settings are environment variables (docs/configuration.md). A name below
// gives the unit if its type does not: a time.Duration has one, a count names the counted things.
package tuning

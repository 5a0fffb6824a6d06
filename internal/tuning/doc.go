// Package tuning holds every number that was measured or chosen: how long, how many and
// how often, each with its unit, its reason and, where there is one, the record that
// measured it ("0008" is docs/decisions/0008-…). A number without a record was chosen
// for the reason that it states.
//
// What a user meets stands with the contract instead: in timer/limits.go and in
// api/limits.go. What an operator may set is an environment variable
// (docs/configuration.md). A name below carries its unit where its type does not:
// a time.Duration has one, a count says of what.
package tuning

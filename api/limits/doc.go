// Package limits has the limits of the HTTP contract, which docs/limits.md and openapi.yaml name
// too. The limits of timers, policies and dispatches stand in their own packages of the core.
//
// What an operator may tune stands in internal/tuning.
package limits

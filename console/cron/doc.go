// Package cron says cron expressions in words, as far as they can be said exactly. It reads what the
// API takes and computes no moments: a test compares each reading with the moments of the API.
//
// Words are those of a wall clock. Around a change of the clocks the rules of the API apply.
//
// Start with [Read].
package cron

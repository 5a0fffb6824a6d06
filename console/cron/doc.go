// Package cron says cron expressions in words, as far as they can be said exactly. It reads what the
// API takes and computes no moments: a test compares each reading with the moments of the API.
//
// The words describe a wall clock. Around a change of the clocks the rules of the API apply.
//
// Start with [Read].
package cron

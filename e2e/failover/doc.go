// Package failover tests what becomes of timers whose worker dies on a real Temporal: another
// worker takes them over, and the reconciler finds those that were lost. A reader starts with
// takenover_test.go.
package failover

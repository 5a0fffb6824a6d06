// Package reconcile finds timers that Temporal has lost, and wakes them. A reader starts with
// [Reconciler].
package reconcile

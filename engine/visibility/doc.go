// Package visibility names what Wakecall's runs are in Temporal's visibility: their
// attributes, their statuses, and the selections that several rooms of the engine make.
// Package query has the grammar; this one has the words. A reader starts with [Timers].
package visibility

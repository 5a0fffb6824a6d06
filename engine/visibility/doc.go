// Package visibility names Wakecall's runs in Temporal's visibility: their attributes, their
// statuses, and the selections that several rooms of the engine share. Package query has the
// grammar; this one has the words. A reader starts with [Timers].
package visibility

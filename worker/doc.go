// Package worker says which workflows and activities run on which task queues,
// and with what limits. What it registers is what the replay tests prove.
package worker

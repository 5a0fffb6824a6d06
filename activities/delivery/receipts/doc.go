// Package receipts remembers what this process has done for a run, so that the run is
// called once however often its task is handed out. Start at [Store.Once].
package receipts

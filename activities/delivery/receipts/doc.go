// Package receipts remembers the attempts that this process has made for a run, so that the
// run rings once however often its task is handed out. Start at [Store.Once].
package receipts

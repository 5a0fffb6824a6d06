// Package receipts remembers a process's attempts by run, so that the run rings once however
// often its task is handed out. Start at [Store.Once].
package receipts

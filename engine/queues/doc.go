// Package queues reads and sets up the task queues of business types: their rate, their
// backlog, and which of them are needed. A reader starts with [Queues].
package queues

// Package job is the way of a worker through the items of a job: page by page at a
// bounded rate, telling its progress by heartbeats, so that it can be stopped exactly and
// be handed on to another worker. What an item is, and what to do with it, is for the kind
// of job to say.
package job

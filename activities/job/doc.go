// Package job takes a worker through the items of a job, page by page at a bounded rate. Its
// heartbeats carry the progress, so that the job can be stopped exactly and handed to
// another worker. Each kind of job defines its items, and what to do with one.
package job

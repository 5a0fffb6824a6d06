package api

// The limits of the HTTP contract, which docs/limits.md and openapi.yaml name too. Those
// of timers and policies stand in package timer.
const (
	// maxBody holds one timer, in bytes: a payload of the largest size in base64, and
	// room for the rest.
	maxBody = 128 << 10
	// maxBatch is how many timers one call books, and maxBatchBody holds them, in bytes.
	maxBatch     = 1000
	maxBatchBody = 16 << 20
	// maxBatchFieldErrors is how many field errors the answer to a batch names. Past them
	// each item names one.
	maxBatchFieldErrors = 1000
	// defaultPageSize and maxPageSize are those of a list of timers.
	defaultPageSize = 100
	maxPageSize     = 1000
	// defaultJobs and maxJobs are those of a list of jobs, each of
	// which costs a call of Temporal, for how far it is.
	defaultJobs = 20
	maxJobs     = 100
	// maxIdempotencyKey is what common clients send at most, in characters.
	maxIdempotencyKey = 255
)

package api

import "github.com/wakecall/wakecall/core/dispatch"

// The limits of the HTTP contract, which docs/limits.md and openapi.yaml name too. Those
// of timers and policies stand in package timer.
const (
	// maxBody holds one timer, in bytes: a payload of the largest size in base64, and
	// room for the rest.
	maxBody = 128 << 10
	// maxBatch is how many timers one call books, and maxBatchBody holds them, in bytes.
	maxBatch     = 1000
	maxBatchBody = 16 << 20
	// maxElements bounds every array in a body, counted before it is built: those of a batch
	// and of the inline items of a dispatch are the longest.
	maxElements = max(maxBatch, dispatch.MaxInlineItems)
	// maxMembers bounds every object in a body in the same way, but for payloads. Those of
	// labels and headers have lower bounds of their own.
	maxMembers = 200
	// policyDepth is how deep objects stand in a policy: the headers of a callback are in the
	// callback of the policy.
	policyDepth = 3
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
	// defaultRuns and maxRuns are those of a page of attempts. Each run costs a read of its
	// history.
	defaultRuns = 20
	maxRuns     = 100
	// defaultWindow and maxWindow are how many rings a receiver that is connected has at
	// once before it answers one.
	defaultWindow = 16
	maxWindow     = 256
	// pollIDParts are those of the id of a ring: a gateway, a connection and a number.
	pollIDParts = 3
	// maxStreamAnswer bounds one message of a receiver, in bytes.
	maxStreamAnswer = 4 << 10
	// webSocketKeyBytes is the size of a nonce.
	webSocketKeyBytes = 16
	// maxDispatchBody holds a dispatch with its inline items, in bytes: their payloads,
	// and as much again for the rest.
	maxDispatchBody = 2 * dispatch.MaxInlineBytes
	// maxItemLine holds one item of an upload, in bytes, and itemSlack what of an item is
	// not its payload.
	maxItemLine = dispatch.MaxItem + itemSlack
	itemSlack   = 1 << 10
	// maxIdempotencyKey is what common clients send at most, in characters.
	maxIdempotencyKey = 255
)

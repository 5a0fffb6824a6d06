// Package deliveries tests how timers ring on a real Temporal: callbacks, retries,
// receivers, acknowledgements, streams, RabbitMQ, held rings and lost workers. A reader
// starts with callback_test.go.
package deliveries

// Package deliveries tests how timers ring on a real Temporal: callbacks, retries,
// receivers, acknowledgements, streams, RabbitMQ and preloaded timers. A reader starts with
// callback_test.go. What becomes of a dead worker's timers is in e2e/failover.
package deliveries

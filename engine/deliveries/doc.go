// Package deliveries takes receivers' later acknowledgements of accepted deliveries. A
// reader starts with [Deliveries.Acknowledge].
package deliveries

// Package streams brings answers of connected receivers to the gateways of their rings. A
// reader starts with [Streams.Answer].
package streams

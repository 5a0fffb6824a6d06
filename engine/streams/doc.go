// Package streams brings answers of receivers that connect to the gateways that gave the
// rings. A reader starts with [Streams.Answer].
package streams

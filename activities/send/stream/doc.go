// Package streamsend carries messages to receivers that have connected to this process.
package streamsend

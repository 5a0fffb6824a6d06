// Package stream knows the receivers that are connected to this process. The front door
// brings a [Connection] for each, takes rings from it and gives it the answers; the
// transport of streams gives the [Hub] a ring and waits for what came of it. How bytes
// travel is the front door's affair.
package stream

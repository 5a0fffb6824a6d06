// Package stream manages the receivers connected to this process. The API adds a [Connection]
// for each, takes rings from it and gives it the answers. The transport of streams gives a ring
// to the [Hub] and waits for the outcome. The API alone knows how bytes travel.
package stream

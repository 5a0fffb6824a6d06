// Package live keeps open pages up to date. It renders a page once for all streams that show it, and
// only while there is such a stream. It sends a rendering only if it differs from the last one.
//
// A reader starts with [Hub.Serve].
package live

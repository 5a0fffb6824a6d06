// Package live keeps open pages up to date. What several watch is rendered once for all of them, and only
// while somebody watches. What is as it was is not sent again.
//
// Start with [Hub] and [Hub.Serve].
package live

// Package chart draws how many timers there are over time, as shapes for a picture that the page
// shows.
//
// Start with [New].
package chart

// Package sessions knows who is there, by what the browser keeps for the console, sealed. Nothing
// is stored elsewhere.
//
// Start with [Sessions.Recognise].
package sessions

// Package problem has the document with which the API reports an error (RFC 9457). The API
// writes it, and the client reads it.
//
// A reader starts with [Document].
package problem

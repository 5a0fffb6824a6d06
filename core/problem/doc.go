// Package problem is the document that the API answers with instead of what it was asked for
// (RFC 9457). The API writes it, and the client reads it.
//
// A reader starts with [Document].
package problem

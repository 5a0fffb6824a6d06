// Package query builds conditions on workflow runs in the language of Temporal's
// visibility. Whatever a value holds, it stays a value: a condition can be written in
// no other way, so nothing that a caller sends becomes part of the language.
package query

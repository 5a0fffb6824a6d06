// Package query builds conditions on workflow runs in the language of Temporal's visibility.
// A value always stays a value: conditions can be built in no other way, so a caller's input
// never becomes part of the language.
package query

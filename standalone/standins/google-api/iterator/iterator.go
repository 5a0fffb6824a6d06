// Package iterator stands in for the iterators of Google's clients.
package iterator

import "errors"

// Done is the end of a list.
var Done = errors.New("no more items in iterator")

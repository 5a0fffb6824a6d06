// Package apitest is what the tests of the rooms of api have in common: which fields an error
// names, and what a caller may be told.
package apitest

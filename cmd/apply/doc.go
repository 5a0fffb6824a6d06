// Package apply brings the policies of a running Wakecall in line with a file,
// by way of its HTTP API: first a dry run of all of them, then the changes.
package apply

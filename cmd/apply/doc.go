// Package apply brings the policies of a running Wakecall in line with a file. It uses the HTTP
// API: first a dry run of all policies, then the changes.
package apply

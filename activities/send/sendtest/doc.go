// Package sendtest holds the rules for every transport of package send. Each rule runs
// against a transport and a receiver at its far end.
package sendtest

// Package program runs a command line. Signals, what is printed, wrong calls and exit codes
// are handled here once, for every binary and every command.
package program

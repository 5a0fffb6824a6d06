// Package program runs a command line. It handles signals, output, usage errors and exit codes
// for every binary and every command.
package program

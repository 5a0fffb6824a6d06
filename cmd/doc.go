// Package cmd is the one command line. The binary of a node, which is package node, and the
// standalone one have the same verbs, those of its users.
package cmd

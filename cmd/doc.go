// Package cmd is the one command line: the roles of a node, and the verbs of its users.
// The binary of a node and the standalone one have the same verbs.
package cmd

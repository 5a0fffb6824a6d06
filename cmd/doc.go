// Package cmd is the one command line. The binary of a node (package node) and the standalone
// one share the verbs of users.
package cmd

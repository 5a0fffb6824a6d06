// Package node is the command line of the production binary: the roles of a node, and the verbs
// of users.
package node

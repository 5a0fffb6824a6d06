// Package verbs is the command line of Wakecall's users: each command is one call of the
// Go client, or a few. It prints tables for people, and with --json what the API said.
package verbs

// Package verbs is the command line of Wakecall's users. Each command makes one call of the Go
// client, or a few. It prints tables for people, or with --json the API's answer.
//
// A reader starts at verbs.go, which lists the commands. Each noun has a type and a file:
// bulk.go, for instance, has the commands below "wakecall bulk" with their flags and tables.
// shell.go, connection.go, flags.go, input.go and print.go have what the commands share.
package verbs

// Package verbs is the command line of Wakecall's users. Each command makes one call of the Go
// client, or a few. It prints tables for people, or with --json the API's answer.
package verbs

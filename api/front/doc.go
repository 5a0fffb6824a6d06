// Package front is what every request passes before it reaches a handler: its framing, its id,
// the log, the address of the client, and the refusal of pages of other sites.
//
// [Guard] lists all of it in order, with the middlewares of packages audits and calls.
package front

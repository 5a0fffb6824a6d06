// Package auth says who calls the API and what the caller may do.
//
// It fails closed. A key that cannot be read, or that two entries share, keeps the
// process from starting. An [Authenticator] without keys admits nobody, and neither
// does its zero value; only [Anyone] does without keys, on loopback. The zero
// [Principal], which is what a request without one has, may do nothing.
package auth

// Package auth authenticates the callers of the API and limits what they may do.
//
// It fails closed. An invalid key, or one that two entries share, keeps the process from
// starting. An [Authenticator] without keys admits no caller, and neither does its zero value.
// Only [Anyone] needs no keys, on loopback. The zero [Principal], which stands for an
// unauthenticated caller, may do nothing.
package auth

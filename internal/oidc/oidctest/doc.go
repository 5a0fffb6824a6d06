// Package oidctest is an identity provider for tests, on a real listener. It signs one user in,
// by the authorization code flow, and checks what the client sends. Start with [New].
package oidctest

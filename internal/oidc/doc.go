// Package oidc tells who has a token of an identity provider (OpenID Connect).
//
// A [Provider] fetches the keys of its issuer, again and again, and verifies tokens with
// them: the signature by an asymmetric algorithm, the issuer, the audience, the time. What
// was verified is remembered until it expires. While the issuer does not answer, nobody new
// is let in.
//
// It is beside the transports of callbacks the one room that calls out. It asks what the
// operator named and what that names, within bounds of time and size, and follows no
// redirect.
package oidc

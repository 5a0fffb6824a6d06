// Package oidc authenticates the tokens of an identity provider (OpenID Connect).
//
// A [Provider] fetches the keys of its issuer periodically, and verifies tokens with them: an
// asymmetric signature, the issuer, the audience and the time. It caches a verified token until
// it expires. While the issuer does not answer, it admits no new token.
//
// A [Browser] signs users in by their browser, for the console: the authorization code flow.
//
// Beside the transports of callbacks, only this room calls out. It calls the URLs that the
// operator and the issuer named, within bounds of time and size, and follows no redirect.
package oidc

package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/timer"
)

// Key admits one client. Only the digest is kept: a key has enough randomness
// of its own to need no slow hash.
type Key struct {
	Name   string
	SHA256 [32]byte
}

const clientKey = "client"

// authenticate lets in who brings a known key as a bearer token (RFC 6750). The
// operations beside the contract are open to whoever can connect.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !strings.HasPrefix(c.Request().URL.Path, versionPrefix) {
			return next(c)
		}
		sent := c.Request().Header.Values(echo.HeaderAuthorization)
		if len(sent) > 1 { // a proxy may go by another of them than we do
			return &timer.Error{Code: timer.Unauthorized, Message: "Send Authorization once."}
		}
		if len(s.keys) == 0 {
			return next(c)
		}
		token, ok := bearer(sent)
		digest := sha256.Sum256([]byte(token))
		for _, key := range s.keys {
			if ok && subtle.ConstantTimeCompare(digest[:], key.SHA256[:]) == 1 {
				c.Set(clientKey, key.Name)
				return next(c)
			}
		}
		return &timer.Error{Code: timer.Unauthorized, Message: "Send a known API key as Authorization: Bearer."}
	}
}

// bearer is the token that was sent, under a scheme whose name has any case (RFC 9110,
// section 11.1).
func bearer(sent []string) (token string, ok bool) {
	if len(sent) == 0 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	return strings.TrimLeft(token, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// author is the name of the client's key.
func author(c echo.Context) string {
	if name, ok := c.Get(clientKey).(string); ok {
		return name
	}
	return "anonymous"
}

package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
)

// authenticate lets in whom the authenticator knows. The operations beside the
// contract are open to whoever can connect.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !ofContract(c.Request()) {
			return next(c)
		}
		// The console has seen who is signed in. Nothing of the network has a context.
		if signedIn := auth.Caller(c.Request().Context()); signedIn != nil {
			s.called(c, signedIn)
			return next(c)
		}
		if bearsToken(c, s.scopes[callOf(c)]) {
			s.called(c, &tokenBearer)
			return next(c)
		}
		principal, err := s.auth.Authenticate(c.Request().Context(), shown(c.Request()))
		if err != nil {
			return s.unauthenticated(err)
		}
		// A browser shows a certificate by itself, whatever page makes it call.
		if principal.By == auth.ByCertificate && door.OtherOrigin(c.Request()) {
			return refuseOrigin()
		}
		s.called(c, principal)
		return next(c)
	}
}

// called notes who makes a call, and its scope: in one context, since each booking pays for it.
func (s *Server) called(c echo.Context, by *auth.Principal) {
	made := callOf(c)
	ctx := callContext{
		Context: auth.Context{Context: c.Request().Context(), Principal: by}, scope: s.scopes[made],
		from: c.RealIP(), requestID: c.Response().Header().Get(echo.HeaderXRequestID),
	}
	if s.audit.On() && ctx.scope != nil && ctx.scope.changes {
		ctx.entry = begun(c, made)
		ctx.entry.caller = by
	}
	c.SetRequest(c.Request().WithContext(&ctx))
}

// shown is what a request shows of who sent it.
func shown(r *http.Request) auth.Shown {
	shown := auth.Shown{Authorization: r.Header.Values(echo.HeaderAuthorization)}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		shown.Certificate = r.TLS.VerifiedChains[0][0]
	}
	return shown
}

// unauthenticated is the answer to who is not let in. What exactly is wrong with a token is
// for the log.
func (s *Server) unauthenticated(err error) error {
	answer := &wire.Error{Code: unauthorized, Cause: err}
	switch {
	case errors.Is(err, auth.ErrRepeated):
		answer.Message = "Send Authorization once."
	case errors.Is(err, auth.ErrNoProvider):
		answer.Code, answer.Message = signInUnavailable, "The identity provider does not answer, so that nobody new is let in."
	case errors.Is(err, auth.ErrExpired):
		answer.Message = "The token has expired. Get a new one."
	case s.auth.TakesTokens():
		answer.Message = "Send a known API key, or a token of the identity provider for this service, as Authorization: Bearer."
	default:
		answer.Message = "Send a known API key as Authorization: Bearer."
	}
	return answer
}

// ofContract is whether a request is for a call of the contract, or for none.
func ofContract(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, versionPrefix) }

// author is the name of who calls.
func author(c echo.Context) string {
	if name := auth.From(c.Request().Context()).Name; name != "" {
		return name
	}
	return auth.Anonymous
}

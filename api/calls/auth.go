package calls

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
)

// Authenticate lets in the callers that the authenticator knows. The calls outside of the
// contract are open to all.
func (r Routes) Authenticate(authenticator *auth.Authenticator, log *audit.Log) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !ofContract(c.Request()) {
				return next(c)
			}
			caller, err := r.callerOf(c, authenticator)
			if err != nil {
				return err
			}
			r.enter(c, caller, log.On())
			return next(c)
		}
	}
}

// callerOf returns the caller of a request.
func (r Routes) callerOf(c echo.Context, authenticator *auth.Authenticator) (*auth.Principal, error) {
	request := c.Request()
	// The console has seen who is signed in. Nothing of the network has a context.
	if signedIn := auth.Caller(request.Context()); signedIn != nil {
		return signedIn, nil
	}
	if bearsToken(c, r.Scopes[callOf(c)]) {
		return &tokenBearer, nil
	}
	principal, err := authenticator.Authenticate(request.Context(), CredentialsOf(request))
	if err != nil {
		return nil, Unauthenticated(authenticator, err)
	}
	// A browser shows a certificate by itself, whatever page makes it call.
	if principal.By == auth.ByCertificate && door.OtherOrigin(request) {
		return nil, problems.OtherOrigin()
	}
	return principal, nil
}

// enter notes who makes a call, and its scope: in one context, since each booking pays for it.
func (r Routes) enter(c echo.Context, by *auth.Principal, recorded bool) {
	made := callOf(c)
	ctx := callContext{
		Context: auth.Context{Context: c.Request().Context(), Principal: by}, scope: r.Scopes[made],
		from: c.RealIP(), requestID: c.Response().Header().Get(echo.HeaderXRequestID),
	}
	if recorded && ctx.scope.recorded(c) {
		ctx.entry = audits.NewEntry(c, made.Method, made.Path)
		ctx.entry.Caller = by
	}
	c.SetRequest(c.Request().WithContext(&ctx))
}

// bearsToken reports whether a token stands in place of a key. Whether it is the right one is
// seen with the delivery.
func bearsToken(c echo.Context, called *Scope) bool {
	return called != nil && called.Understands(AckToken) && len(c.Request().Header.Values(delivery.HeaderAckToken)) > 0
}

// tokenBearer is the caller that sends such a token. It may make no other call.
var tokenBearer = auth.Principal{Name: "receiver", By: auth.ByAckToken, Grants: []auth.Grant{{Role: auth.Operator}}}

// CredentialsOf is what a request shows of who sent it.
func CredentialsOf(r *http.Request) auth.Shown {
	shown := auth.Shown{Authorization: r.Header.Values(echo.HeaderAuthorization)}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		shown.Certificate = r.TLS.VerifiedChains[0][0]
	}
	return shown
}

// Unauthenticated is the answer to who is not let in. What exactly is wrong with a token is
// for the log.
func Unauthenticated(authenticator *auth.Authenticator, err error) error {
	answer := &wire.Error{Code: problems.Unauthorized, Cause: err}
	switch {
	case errors.Is(err, auth.ErrRepeated):
		answer.Message = "Send Authorization once."
	case errors.Is(err, auth.ErrNoProvider):
		answer.Code = problems.SignInUnavailable
		answer.Message = "The identity provider does not answer, so new tokens cannot be checked. Repeat the request later."
	case errors.Is(err, auth.ErrExpired):
		answer.Message = "The token has expired. Get a new one."
	case authenticator.TakesTokens():
		answer.Message = "Send a known API key, or a token of the identity provider for this service, as Authorization: Bearer."
	default:
		answer.Message = "Send a known API key as Authorization: Bearer."
	}
	return answer
}

// ofContract reports whether the path of a request is below the version.
func ofContract(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, paths.Prefix) }

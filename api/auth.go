package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/timer"
)

// authenticate lets in whom the authenticator knows. The operations beside the
// contract are open to whoever can connect.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !ofContract(c.Request()) {
			return next(c)
		}
		if bearsToken(c) {
			c.SetRequest(c.Request().WithContext(auth.With(c.Request().Context(), &tokenBearer)))
			return next(c)
		}
		principal, err := s.auth.Authenticate(c.Request().Header.Values(echo.HeaderAuthorization))
		switch {
		case errors.Is(err, auth.ErrRepeated):
			return &timer.Error{Code: unauthorized, Message: "Send Authorization once."}
		case err != nil:
			return &timer.Error{Code: unauthorized, Message: "Send a known API key as Authorization: Bearer."}
		}
		c.SetRequest(c.Request().WithContext(auth.With(c.Request().Context(), principal)))
		return next(c)
	}
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

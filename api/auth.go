package api

import (
	"context"
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

// decided are the calls whose path names no business type and which decide by
// themselves whom they are for: by what their body or query names, or by leaving out of
// their answer what the caller may not see. The preview of a rule concerns no type.
var decided = map[string]bool{
	"POST " + timersPath: true, "POST " + timersPath + "/batch": true, "GET " + timersPath: true,
	"GET " + versionPrefix + "policies": true,
	"POST " + bulkPath:                  true, "GET " + bulkPath + "/:id": true, "DELETE " + bulkPath + "/:id": true, "GET " + bulkPath + "/:id/results": true,
	"GET " + statsPath: true, "GET " + forecastPath: true,
	"POST " + dispatchesPath: true, "GET " + dispatchesPath: true,
	"POST " + versionPrefix + "recurrences/preview": true,
	"POST " + oneDelivery + "/ack":                  true, "POST " + oneDelivery + "/nack": true,
	"GET " + emergencyPath: true, "POST " + emergencyPath + "/pause": true, "POST " + emergencyPath + "/resume": true,
}

// authorize refuses what a principal may not do. A call that is neither for the
// business type in its path nor one of those that decide by themselves is for
// principals of all business types only.
func authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !strings.HasPrefix(c.Path(), versionPrefix) { // nothing is there, or it is open to all
			return next(c)
		}
		principal := auth.From(c.Request().Context())
		switch {
		case !principal.MaySomewhere(auth.Operator):
			return &timer.Error{Code: forbidden, Message: "The API key has no role that allows the call."}
		case principal.May(auth.Operator, ""), decided[methodOf(c)+" "+c.Path()]:
			return next(c)
		case !strings.Contains(c.Path()+"/", "/:type/"):
			return &timer.Error{Code: forbidden, Message: "The call is for API keys of all business types."}
		}
		if err := permit(c.Request().Context(), pathParam(c, paramType)); err != nil {
			return err
		}
		return next(c)
	}
}

// methodOf is the method that a request is routed by.
func methodOf(c echo.Context) string {
	if c.Request().Method == http.MethodHead {
		return http.MethodGet
	}
	return c.Request().Method
}

// permit refuses a business type that the caller may not use; "" stands for all.
func permit(ctx context.Context, businessType string) error {
	if auth.From(ctx).May(auth.Operator, businessType) {
		return nil
	}
	if businessType == "" {
		return &timer.Error{Code: forbidden, Message: "The call must name one of the business types that the API key is for."}
	}
	return &timer.Error{Code: forbidden, Message: "The API key is for other business types."}
}

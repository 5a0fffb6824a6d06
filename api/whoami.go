package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/auth"
)

const (
	whoamiPath = versionPrefix + "whoami"
	keysPath   = versionPrefix + "keys"
)

// grantView is a role for some business types.
type grantView struct {
	Role          auth.Role `json:"role"`
	Payloads      bool      `json:"payloads"`
	BusinessTypes []string  `json:"business_types"`
}

func grantViews(grants []auth.Grant) []grantView {
	views := make([]grantView, 0, len(grants))
	for _, grant := range grants {
		views = append(views, grantView{grant.Role, grant.Payloads, grant.Types})
	}
	return views
}

// principalView is who calls.
type principalView struct {
	Name   string      `json:"name"`
	ID     string      `json:"id,omitzero"`
	By     auth.Means  `json:"by"`
	Grants []grantView `json:"grants"`
}

// keyView is an API key, of which nothing is told that helps to find it out.
type keyView struct {
	Name string `json:"name"`
	grantView
}

// keysBody has all of them.
type keysBody struct {
	Keys []keyView `json:"keys"`
}

// registerAccess adds the calls that tell who may do what.
func registerAccess(contract routes, authenticator *auth.Authenticator) {
	contract.get(whoamiPath, scope{typing: untyped}, whoami)
	contract.get(keysPath, administering(allTypes), keyHandlers{authenticator}.listKeys)
}

// whoami tells the caller who it is and what it may do, also where that is nothing.
func whoami(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	p := auth.From(c.Request().Context())
	return c.JSON(http.StatusOK, principalView{p.Name, p.ID, p.By, grantViews(p.Grants)})
}

type keyHandlers struct{ auth *auth.Authenticator }

func (h keyHandlers) listKeys(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	body := keysBody{Keys: []keyView{}}
	for _, key := range h.auth.Keys() {
		for _, grant := range grantViews(key.Principal.Grants) {
			body.Keys = append(body.Keys, keyView{key.Principal.Name, grant})
		}
	}
	return c.JSON(http.StatusOK, body)
}

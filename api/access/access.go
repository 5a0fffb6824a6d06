package access

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/internal/auth"
)

const (
	whoamiPath = paths.Prefix + "whoami"
	keysPath   = paths.Prefix + "keys"
)

// GrantView is a role for some business types.
type GrantView struct {
	Role          auth.Role `json:"role"`
	Payloads      bool      `json:"payloads"`
	BusinessTypes []string  `json:"business_types"`
}

func grantViews(grants []auth.Grant) []GrantView {
	views := make([]GrantView, 0, len(grants))
	for _, grant := range grants {
		views = append(views, GrantView{grant.Role, grant.Payloads, grant.Types})
	}
	return views
}

// PrincipalView shows the caller.
type PrincipalView struct {
	Name   string      `json:"name"`
	ID     string      `json:"id,omitzero"`
	By     auth.Means  `json:"by"`
	Grants []GrantView `json:"grants"`
}

// keyView shows an API key, without anything that helps to guess it.
type keyView struct {
	Name string `json:"name"`
	GrantView
}

// KeysBody has all of them.
type KeysBody struct {
	Keys []keyView `json:"keys"`
}

// Register adds the calls about callers and keys.
func Register(contract calls.Routes, authenticator *auth.Authenticator) {
	contract.Get(whoamiPath, calls.Scope{Type: calls.Untyped}, whoami)
	contract.Get(keysPath, calls.Administering(calls.AllTypes), keyHandlers{authenticator}.listKeys)
}

// whoami tells the caller its name and its rights, even if it has none.
func whoami(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	p := auth.From(c.Request().Context())
	return c.JSON(http.StatusOK, PrincipalView{p.Name, p.ID, p.By, grantViews(p.Grants)})
}

type keyHandlers struct{ auth *auth.Authenticator }

func (h keyHandlers) listKeys(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	body := KeysBody{Keys: []keyView{}}
	for _, key := range h.auth.Keys() {
		for _, grant := range grantViews(key.Principal.Grants) {
			body.Keys = append(body.Keys, keyView{key.Principal.Name, grant})
		}
	}
	return c.JSON(http.StatusOK, body)
}

package operations

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
)

// The paths outside of the contract.
const (
	rootPath = "/"
	docsPath = "/docs"
	specPath = "/openapi.yaml"
)

// IndexBody names the program, and links to what it answers.
type IndexBody struct {
	Name string `json:"name"`
	// Version is the version of the program. Only authenticated callers see it: it says which faults to try.
	Version string     `json:"version,omitzero"`
	Links   IndexLinks `json:"links"`
}

// IndexLinks are the links of the index.
type IndexLinks struct {
	API     string `json:"api"`
	OpenAPI string `json:"openapi"`
	Docs    string `json:"docs"`
	Live    string `json:"live"`
	Ready   string `json:"ready"`
}

// index says what answers here. Wrong credentials are refused. A caller without any is not told the version.
func index(options Options) echo.HandlerFunc {
	body := IndexBody{Name: "Wakecall", Links: IndexLinks{
		API: strings.TrimSuffix(paths.Prefix, "/"), OpenAPI: specPath, Docs: docsPath, Live: paths.Live, Ready: paths.Ready,
	}}
	return func(c echo.Context) error {
		if err := requests.ReadQuery(c).Err(); err != nil {
			return err
		}
		who, told := calls.CredentialsOf(c.Request()), body
		_, err := options.Auth.Authenticate(c.Request().Context(), who)
		switch {
		case err == nil:
			told.Version = options.Version
		case len(who.Authorization) > 0:
			return calls.Unauthenticated(options.Auth, err)
		}
		return c.JSON(http.StatusOK, told)
	}
}

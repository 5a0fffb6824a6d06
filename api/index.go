package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// What is there beside the calls of the contract.
const (
	rootPath  = "/"
	docsPath  = "/docs"
	specPath  = "/openapi.yaml"
	livePath  = "/livez"
	readyPath = "/readyz"
)

// indexBody tells where one is.
type indexBody struct {
	Name string `json:"name"`
	// Version is that of the program. Strangers are not told: it would say which faults to try.
	Version string     `json:"version,omitzero"`
	Links   indexLinks `json:"links"`
}

// indexLinks lead on.
type indexLinks struct {
	API     string `json:"api"`
	OpenAPI string `json:"openapi"`
	Docs    string `json:"docs"`
	Live    string `json:"live"`
	Ready   string `json:"ready"`
}

// index tells where one is. Whoever shows something is let in by it or refused; whoever shows
// nothing is told what anybody may know.
func index(options OperationOptions) echo.HandlerFunc {
	body := indexBody{Name: "Wakecall", Links: indexLinks{
		API: strings.TrimSuffix(versionPrefix, "/"), OpenAPI: specPath, Docs: docsPath, Live: livePath, Ready: readyPath,
	}}
	return func(c echo.Context) error {
		if err := readQuery(c).err(); err != nil {
			return err
		}
		who, told := shown(c.Request()), body
		_, err := options.Auth.Authenticate(c.Request().Context(), who)
		switch {
		case err == nil:
			told.Version = options.Version
		case len(who.Authorization) > 0:
			return unauthenticated(options.Auth, err)
		}
		return c.JSON(http.StatusOK, told)
	}
}

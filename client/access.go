package client

import (
	"context"
	"net/http"
)

// Access tells who calls, and which keys there are.
type Access struct{ caller *caller }

// Grant is a role for some business types.
type Grant struct {
	// Role is viewer, operator or admin.
	Role string `json:"role"`
	// Payloads is whether payloads are shown.
	Payloads bool `json:"payloads"`
	// BusinessTypes are names, beginnings that * follows, or * alone for all.
	BusinessTypes []string `json:"business_types"`
}

// Principal is somebody who calls.
type Principal struct {
	Name string `json:"name"`
	// ID is the subject of a token or of a certificate; "" for a key.
	ID string `json:"id,omitempty"`
	// By is what has shown who it is: key, oidc, certificate, console or nothing.
	By     string  `json:"by"`
	Grants []Grant `json:"grants"`
}

// Key is an API key that Wakecall lets in, without the key.
type Key struct {
	Name string `json:"name"`
	Grant
}

// Whoami tells who this client is to Wakecall.
func (a Access) Whoami(ctx context.Context) (who Principal, err error) {
	_, err = a.caller.do(ctx, call{method: http.MethodGet, path: "/v1/whoami"}, &who)
	return who, err
}

// Keys lists the API keys. It is for admins of everything.
func (a Access) Keys(ctx context.Context) ([]Key, error) {
	var answer struct{ Keys []Key }
	_, err := a.caller.do(ctx, call{method: http.MethodGet, path: "/v1/keys"}, &answer)
	return answer.Keys, err
}

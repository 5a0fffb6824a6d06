package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
)

// Access shows the caller and the API keys.
type Access struct{ caller *caller }

// Grant is a role for some business types.
type Grant struct {
	// Role is viewer, operator or admin.
	Role string `json:"role"`
	// Payloads reports whether payloads are shown.
	Payloads bool `json:"payloads"`
	// BusinessTypes are names, prefixes followed by *, or * alone for all.
	BusinessTypes []string `json:"business_types"`
}

// Principal is an authenticated caller.
type Principal struct {
	Name string `json:"name"`
	// ID is the subject of a token or of a certificate; "" for a key.
	ID string `json:"id,omitempty"`
	// By is how it was authenticated: key, oidc, certificate, console or nothing.
	By     string  `json:"by"`
	Grants []Grant `json:"grants"`
}

// Key is an API key of Wakecall, without its secret.
type Key struct {
	Name string `json:"name"`
	Grant
}

// Whoami returns the principal of this client.
func (a Access) Whoami(ctx context.Context) (who Principal, err error) {
	_, err = a.caller.do(ctx, call{method: http.MethodGet, path: "/v1/whoami"}, &who)
	return who, err
}

// Keys lists the API keys. It requires an admin of everything.
func (a Access) Keys(ctx context.Context) ([]Key, error) {
	var answer struct{ Keys []Key }
	_, err := a.caller.do(ctx, call{method: http.MethodGet, path: "/v1/keys"}, &answer)
	return answer.Keys, err
}

// AuditOptions selects records. The zero value selects the latest 100 of all.
type AuditOptions struct {
	trail.Filter
	// PageSize is at most 1,000.
	PageSize int
	// PageToken is the token in the answer of the page before.
	PageToken string
}

// Audit lists the calls that changed something or were refused, the newest first, as far as the
// gateway that answers knows them. It requires an admin.
func (a Access) Audit(ctx context.Context, options AuditOptions) (page trail.Page, err error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"who": options.Who, "business_type": options.BusinessType, "operation": options.Operation, "outcome": string(options.Outcome),
		"page_token": options.PageToken,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]wire.Instant{"from": options.From, "to": options.To} {
		if at != 0 {
			query.Set(name, at.String())
		}
	}
	if options.PageSize != 0 {
		query.Set("page_size", strconv.Itoa(options.PageSize))
	}
	_, err = a.caller.do(ctx, call{method: http.MethodGet, path: "/v1/audit", query: query}, &page)
	return page, err
}

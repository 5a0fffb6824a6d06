package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"

	"github.com/wakecall/wakecall/internal/resend"
	"github.com/wakecall/wakecall/internal/tuning"
)

var (
	errRedirect = errors.New("it redirects; redirects are not followed")
	errTooLarge = fmt.Errorf("its answer has more than %d bytes", tuning.ProviderBytes)
	errNoKey    = errors.New("it publishes no key that signs tokens")
)

// newClient returns a client for the provider alone.
func newClient() *http.Client {
	transport := resend.Bound(tuning.AttemptSends)
	transport.DisableKeepAlives = true // requests are minutes apart
	transport.ResponseHeaderTimeout = tuning.ProviderTimeout
	return &http.Client{
		Transport: bounded{transport}, Timeout: tuning.ProviderTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// bounded bounds the bodies of answers.
type bounded struct{ resend.Bounded }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.Bounded.RoundTrip(request)
	if err == nil {
		response.Body = &boundedBody{ReadCloser: response.Body, left: tuning.ProviderBytes}
	}
	return response, err
}

// boundedBody fails at the bound instead of ending.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// published is what an issuer publishes: its keys, and where it signs users in.
type published struct {
	keys []jose.JSONWebKey
	// endpoint is the zero value if the issuer names none or an unsafe one.
	endpoint oauth2.Endpoint
	// scopes are those that the issuer says it knows.
	scopes []string
}

// fetch asks the issuer where its keys are, and then for the keys.
func fetch(ctx context.Context, client *http.Client, issuer string) (all published, err error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), issuer)
	if err != nil {
		return all, err
	}
	var said struct {
		Keys   string   `json:"jwks_uri"`
		Scopes []string `json:"scopes_supported"`
	}
	if err := provider.Claims(&said); err != nil {
		return all, err
	}
	if !safeURL(issuer, said.Keys) {
		return all, fmt.Errorf("its jwks_uri %q is not an https URL", said.Keys)
	}
	text, err := get(ctx, client, said.Keys)
	if err != nil {
		return all, err
	}
	if all.keys, err = readKeys(text); err != nil {
		return all, err
	}
	if at := provider.Endpoint(); safeURL(issuer, at.AuthURL) && safeURL(issuer, at.TokenURL) {
		all.endpoint, all.scopes = at, said.Scopes
	}
	return all, nil
}

// safeURL reports whether what is asked there cannot be changed on the way.
func safeURL(issuer, asked string) bool {
	from, err := url.Parse(issuer)
	if err != nil {
		return false
	}
	u, err := url.Parse(asked)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == from.Scheme)
}

func get(ctx context.Context, client *http.Client, from string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its keys were answered with %s", response.Status)
	}
	return io.ReadAll(response.Body)
}

// readKeys returns the keys of a set that verify tokens. It skips other keys: for encryption, of
// unknown kinds, or secret ones, which do not belong in a set.
func readKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("its keys are not a JSON Web Key Set")
	}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errNoKey
	}
	return keys, nil
}

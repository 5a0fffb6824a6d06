package oidc_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/oidc/oidctest"
)

const redirect = "https://wakecall.example/console/login/callback"

// browserOf is the flow of a client at an issuer. Two groups have a role.
func browserOf(t *testing.T, issuer string, client oidc.Client) *oidc.Browser {
	t.Helper()
	provider, err := oidc.New(oidc.Options{
		Issuer: issuer, Audience: audience, Groups: "groups", Logger: slog.New(slog.DiscardHandler),
		Roles: auth.Mappings{
			{Name: "ops", Grant: auth.Grant{Role: auth.Admin, Types: []string{auth.AllBusinessTypes}}},
			{Name: "shop", Grant: auth.Grant{Role: auth.Operator, Types: []string{"order-*"}}},
		},
	})
	require.NoError(t, err)
	return provider.Browser(client)
}

var client = oidc.Client{ID: oidctest.ClientID, Secret: oidctest.ClientSecret}

func backOf(u *url.URL) oidc.Back {
	return oidc.Back{Code: u.Query().Get("code"), State: u.Query().Get("state"), Error: u.Query().Get("error")}
}

func TestAUserSignsInByTheBrowser(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	b := browserOf(t, issuer.URL, client)
	to, attempt, err := b.Begin(t.Context(), redirect)
	require.NoError(t, err)
	sent, err := url.Parse(to)
	require.NoError(t, err)
	require.Equal(t, "openid profile email", sent.Query().Get("scope"))
	require.NotContains(t, to, attempt.Verifier, "only its digest leaves")
	back := issuer.Visit(to)
	person, err := b.Finish(t.Context(), redirect, backOf(back), attempt)
	require.NoError(t, err)
	require.Equal(t, oidc.Person{Issuer: issuer.URL, Name: "ada", Subject: "7", Groups: []string{"shop"}}, person)
	require.Equal(t, &auth.Principal{Name: "ada", ID: "7", By: auth.ByOIDC, Grants: []auth.Grant{{Role: auth.Operator, Types: []string{"order-*"}}}}, b.Principal(person))

	_, err = b.Finish(t.Context(), redirect, backOf(back), attempt)
	require.ErrorIs(t, err, auth.ErrUnknown, "a code is good once")
}

// Some providers tell the groups only to a client that asks for the scope. Others refuse a scope that they do
// not know.
func TestTheScopeOfGroupsIsAskedForWhereItIsKnown(t *testing.T) {
	t.Parallel()
	for known, want := range map[string]string{
		"":                                   "openid profile email",
		"openid email profile":               "openid profile email",
		"openid email groups offline_access": "openid profile email groups",
	} {
		issuer := oidctest.New(t)
		issuer.Knows(strings.Fields(known)...)
		b := browserOf(t, issuer.URL, client)
		to, attempt, err := b.Begin(t.Context(), redirect)
		require.NoError(t, err)
		sent, err := url.Parse(to)
		require.NoError(t, err)
		require.Equal(t, want, sent.Query().Get("scope"), known)
		person, err := b.Finish(t.Context(), redirect, backOf(issuer.Visit(to)), attempt)
		require.NoError(t, err)
		require.Equal(t, []string{"shop"}, person.Groups, known)
	}
}

func TestSignInsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client oidc.Client
		says   map[string]any
		change func(back *oidc.Back, a *oidc.Attempt)
	}{
		"another state":          {change: func(back *oidc.Back, _ *oidc.Attempt) { back.State = "x" }},
		"no state":               {change: func(back *oidc.Back, a *oidc.Attempt) { back.State, a.State = "", "" }},
		"no code":                {change: func(back *oidc.Back, _ *oidc.Attempt) { back.Code = "" }},
		"another code":           {change: func(back *oidc.Back, _ *oidc.Attempt) { back.Code = "x" }},
		"another verifier":       {change: func(_ *oidc.Back, a *oidc.Attempt) { a.Verifier += "x" }},
		"another nonce":          {change: func(_ *oidc.Back, a *oidc.Attempt) { a.Nonce = "x" }},
		"no nonce in the token":  {says: map[string]any{"nonce": nil}},
		"a token for the API":    {says: map[string]any{"aud": audience}},
		"a token of another":     {says: map[string]any{"iss": "https://elsewhere.example"}},
		"a token without a name": {says: map[string]any{"sub": "a\nb"}},
		"another secret":         {client: oidc.Client{ID: oidctest.ClientID, Secret: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer := oidctest.New(t)
			issuer.Says(c.says)
			if c.client.ID == "" {
				c.client = client
			}
			b := browserOf(t, issuer.URL, c.client)
			to, attempt, err := b.Begin(t.Context(), redirect)
			require.NoError(t, err)
			back := backOf(issuer.Visit(to))
			if c.change != nil {
				c.change(&back, &attempt)
			}
			_, err = b.Finish(t.Context(), redirect, back, attempt)
			require.ErrorIs(t, err, auth.ErrUnknown)
			require.NotContains(t, err.Error(), oidctest.ClientSecret)
		})
	}
}

// The log says what a provider says: a client that is set up wrongly is mended by it.
func TestWhyAProviderRefuses(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	b := browserOf(t, issuer.URL, client)
	to, attempt, err := b.Begin(t.Context(), redirect)
	require.NoError(t, err)
	_, err = b.Finish(t.Context(), redirect, oidc.Back{State: attempt.State, Error: "invalid_scope"}, attempt)
	require.ErrorIs(t, err, auth.ErrUnknown)
	require.ErrorContains(t, err, "the provider refuses the sign-in: invalid_scope")
	_, err = b.Finish(t.Context(), redirect, oidc.Back{State: "another", Error: "invalid_scope"}, attempt)
	require.ErrorContains(t, err, "not begun here", "a word that anyone may write")

	back := backOf(issuer.Visit(to))
	back.Code = "another"
	_, err = b.Finish(t.Context(), redirect, back, attempt)
	require.ErrorContains(t, err, "the provider refuses the code: invalid_grant")
	issuer.Breaks()
	_, err = b.Finish(t.Context(), redirect, back, attempt)
	require.ErrorIs(t, err, auth.ErrNoProvider, "it may work later")
	require.ErrorContains(t, err, "502 Bad Gateway")
}

func TestAProviderThatSignsNobodyIn(t *testing.T) {
	t.Parallel()
	silent := newIssuer(t, newPair(t, "1").public())
	silent.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	_, _, err := browserOf(t, silent.URL, client).Begin(t.Context(), redirect)
	require.ErrorIs(t, err, auth.ErrNoProvider)
	_, _, err = browserOf(t, newIssuer(t, newPair(t, "1").public()).URL, client).Begin(t.Context(), redirect)
	require.ErrorIs(t, err, auth.ErrNoProvider, "it names no endpoint")
}

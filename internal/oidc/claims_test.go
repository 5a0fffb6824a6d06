package oidc_test

import (
	"crypto/sha256"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
)

// The name is the most readable one that a log can show.
func TestNamesOfBearers(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	l := newLab(t, key.public())
	for want, says := range map[string]map[string]any{
		"ada":             {},
		"ada@example.com": {"preferred_username": nil, "email": "ada@example.com", "email_verified": true},
		"7":               {"preferred_username": nil, "email": "ops@example.com"},
		"8":               {"sub": "8", "preferred_username": "a\x00b"},
		"9":               {"sub": "9", "preferred_username": strings.Repeat("a", 129), "email": 7, "email_verified": true},
		"10":              {"sub": "10", "preferred_username": []string{"ops"}, "email": "x@y", "email_verified": "true"},
	} {
		require.Equal(t, want, l.admits(key.sign(t, l.says(says))).Name)
	}
	l.refuses(key.sign(t, l.says(map[string]any{"preferred_username": nil, "sub": strings.Repeat("7", 256)})), auth.ErrUnknown)
}

// Groups come from the configured claim. A value of another type gives no role.
func TestWhereGroupsStand(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	for name, c := range map[string]struct {
		claim string
		says  map[string]any
		roles int
	}{
		"a list":                     {"groups", map[string]any{"groups": []string{"a", "ops", "shop"}}, 2},
		"one":                        {"groups", map[string]any{"groups": "ops"}, 1},
		"words are one":              {"groups", map[string]any{"groups": "shop ops"}, 0},
		"none":                       {"groups", map[string]any{"groups": nil}, 0},
		"an empty list":              {"groups", map[string]any{"groups": []string{}}, 0},
		"no text":                    {"groups", map[string]any{"groups": []any{"ops", 7}}, 0},
		"a number":                   {"groups", map[string]any{"groups": 7}, 0},
		"another case":               {"groups", map[string]any{"groups": "Ops"}, 0},
		"in an object":               {"realm_access.roles", map[string]any{"realm_access": map[string]any{"roles": []string{"ops"}}}, 1},
		"no object":                  {"realm_access.roles", map[string]any{"realm_access": "roles"}, 0},
		"a name with dots":           {"https://example.com/groups", map[string]any{"https://example.com/groups": []string{"ops"}}, 1},
		"an address":                 {"email", map[string]any{"email": "ops", "email_verified": true}, 1},
		"an address of anybody":      {"email", map[string]any{"email": "ops"}, 0},
		"an address that is not his": {"email", map[string]any{"email": "ops", "email_verified": false}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, key.public())
			provider, err := oidc.New(oidc.Options{
				Issuer: l.issuer.URL, Audience: audience, Groups: c.claim, Logger: slog.New(slog.DiscardHandler),
				Roles: auth.Mappings{mapping(t, "ops=admin"), mapping(t, "shop=viewer:order")},
			})
			require.NoError(t, err)
			token := key.sign(t, l.says(c.says))
			p, err := provider.Bearer(t.Context(), token, sha256.Sum256([]byte(token)))
			require.NoError(t, err)
			require.Len(t, p.Grants, c.roles)
			require.Equal(t, c.roles > 0, p.MaySomewhere(auth.Viewer))
		})
	}
}

func mapping(t *testing.T, text string) auth.Mapping {
	found, err := auth.ParseMapping(text)
	require.NoError(t, err)
	return found
}

package oidc_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
)

const audience = "wakecall"

// issuer is an identity provider on a real listener. A test may change its answers.
type issuer struct {
	*httptest.Server
	asked atomic.Int64

	mu   sync.Mutex
	keys []any
	// instead answers in place of the issuer, if it is not nil.
	instead http.HandlerFunc
}

func newIssuer(t *testing.T, keys ...any) *issuer {
	i := &issuer{keys: keys}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": i.keys})
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		i.mu.Lock()
		handler := i.instead
		i.mu.Unlock()
		if handler == nil {
			handler = mux.ServeHTTP
		}
		handler(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) answer(instead http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.instead = instead
}

// rotate replaces the published keys.
func (i *issuer) rotate(keys ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// pair is a signing key with its public key.
type pair struct {
	id      string
	private crypto.Signer
	by      jose.SignatureAlgorithm
}

var newRSA = sync.OnceValue(func() *rsa.PrivateKey {
	key, _ := rsa.GenerateKey(rand.Reader, 2048)
	return key
})

func newPair(t *testing.T, id string) pair {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return pair{id, key, jose.ES256}
}

func rsaPair(id string) pair { return pair{id, newRSA(), jose.RS256} }

func (p pair) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: p.private.Public(), KeyID: p.id, Use: "sig", Algorithm: string(p.by)}
}

// sign makes a token with these claims.
func (p pair) sign(t *testing.T, says map[string]any) string {
	t.Helper()
	return signed(t, jose.SigningKey{Algorithm: p.by, Key: jose.JSONWebKey{Key: p.private, KeyID: p.id}}, says)
}

func signed(t *testing.T, key jose.SigningKey, says map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	require.NoError(t, err)
	text, err := json.Marshal(says)
	require.NoError(t, err)
	whole, err := signer.Sign(text)
	require.NoError(t, err)
	token, err := whole.CompactSerialize()
	require.NoError(t, err)
	return token
}

func base64JSON(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(text)
}

// clock is a time controlled by tests.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) move(d time.Duration) { c.ahead.Add(int64(d)) }

// lab is a provider with its issuer, its log and its clock.
type lab struct {
	*testing.T
	*oidc.Provider
	*clock
	issuer *issuer
	log    *strings.Builder
}

func newLab(t *testing.T, keys ...any) *lab { return labAt(t, newIssuer(t, keys...)) }

func labAt(t *testing.T, i *issuer) *lab {
	l := &lab{T: t, clock: &clock{}, issuer: i, log: &strings.Builder{}}
	provider, err := oidc.New(oidc.Options{
		Issuer: i.URL, Audience: audience, Groups: "groups", Now: l.now, Logger: slog.New(slog.NewTextHandler(l.log, nil)),
		Roles: auth.Mappings{
			{Name: "ops", Grant: auth.Grant{Role: auth.Admin, Payloads: true, Types: []string{auth.AllBusinessTypes}}},
			{Name: "shop", Grant: auth.Grant{Role: auth.Operator, Types: []string{"order-*"}}},
		},
	})
	require.NoError(t, err)
	l.Provider = provider
	return l
}

// says returns the claims of a valid token, changed by instead.
func (l *lab) says(instead map[string]any) map[string]any {
	all := map[string]any{
		"iss": l.issuer.URL, "aud": audience, "sub": "7", "preferred_username": "ada", "groups": []string{"shop"},
		"iat": l.now().Unix(), "exp": l.now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, instead)
	for name, value := range instead {
		if value == nil {
			delete(all, name)
		}
	}
	return all
}

func (l *lab) bearer(token string) (*auth.Principal, error) {
	return l.Bearer(l.Context(), token, sha256.Sum256([]byte(token)))
}

func (l *lab) admits(token string) *auth.Principal {
	l.Helper()
	p, err := l.bearer(token)
	require.NoError(l, err)
	return p
}

func (l *lab) refuses(token string, with error) {
	l.Helper()
	p, err := l.bearer(token)
	require.ErrorIs(l, err, with)
	require.Nil(l, p)
	require.NotContains(l, err.Error(), token)
}

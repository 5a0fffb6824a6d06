package oidc_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

func TestATokenTellsWhoCalls(t *testing.T) {
	t.Parallel()
	for _, key := range []pair{newPair(t, "1"), rsaPair("2")} {
		l := newLab(t, key.public())
		p := l.admits(key.sign(t, l.says(nil)))
		require.WithinDuration(t, l.now().Add(time.Hour), p.Ends, time.Minute)
		require.Equal(t, &auth.Principal{
			Name: "ada", ID: "7", By: auth.ByOIDC, Grants: []auth.Grant{{Role: auth.Operator, Types: []string{"order-*"}}}, Ends: p.Ends,
		}, p)
	}
}

// An invalid token is refused, and is not cached.
func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	key, stranger := rsaPair("1"), newPair(t, "1")
	l := newLab(t, key.public())
	der, err := x509.MarshalPKIXPublicKey(key.private.Public())
	require.NoError(t, err)
	good := key.sign(t, l.says(nil))
	head, rest, _ := strings.Cut(good, ".")
	_, signature, _ := strings.Cut(rest, ".")
	now := l.now()
	for name, c := range map[string]struct {
		token string
		with  error
	}{
		"no algorithm":               {base64JSON(t, map[string]any{"alg": "none"}) + "." + base64JSON(t, l.says(nil)) + ".", auth.ErrUnknown},
		"no algorithm, but a key":    {base64JSON(t, map[string]any{"alg": "none", "kid": "1"}) + "." + base64JSON(t, l.says(nil)) + "." + signature, auth.ErrUnknown},
		"the public key as a secret": {signed(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: der, KeyID: "1"}}, l.says(nil)), auth.ErrUnknown},
		"another key":                {stranger.sign(t, l.says(nil)), auth.ErrUnknown},
		"other claims":               {head + "." + base64JSON(t, l.says(map[string]any{"groups": []string{"ops"}})) + "." + signature, auth.ErrUnknown},
		"another audience":           {key.sign(t, l.says(map[string]any{"aud": "mail"})), auth.ErrUnknown},
		"no audience":                {key.sign(t, l.says(map[string]any{"aud": nil})), auth.ErrUnknown},
		"another issuer":             {key.sign(t, l.says(map[string]any{"iss": "https://elsewhere.example"})), auth.ErrUnknown},
		"no issuer":                  {key.sign(t, l.says(map[string]any{"iss": nil})), auth.ErrUnknown},
		"expired":                    {key.sign(t, l.says(map[string]any{"exp": now.Add(-time.Minute).Unix()})), auth.ErrExpired},
		"for ever":                   {key.sign(t, l.says(map[string]any{"exp": nil})), auth.ErrExpired},
		"not yet valid":              {key.sign(t, l.says(map[string]any{"nbf": now.Add(time.Hour).Unix()})), auth.ErrUnknown},
		"no subject":                 {key.sign(t, l.says(map[string]any{"sub": nil})), auth.ErrUnknown},
		"a subject of two lines":     {key.sign(t, l.says(map[string]any{"sub": "a\nb"})), auth.ErrUnknown},
		"two parts":                  {head + "." + rest[:10], auth.ErrUnknown},
		"JSON":                       {`{"payload":"eyJ9","signatures":[{"signature":"a.b.c"}]}`, auth.ErrUnknown},
		"a wrong API key":            {"s3cr3t", auth.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			l := *l
			l.T = t
			l.refuses(c.token, c.with)
			l.refuses(c.token, c.with)
		})
	}
	l.admits(good)
	l.admits(key.sign(t, l.says(map[string]any{"aud": []string{"mail", audience}, "nbf": now.Add(-time.Hour).Unix()})))
}

// A new key is fetched at its first token. Tokens of a withdrawn key are invalid, whether cached
// or not.
func TestRotatedKeys(t *testing.T) {
	t.Parallel()
	first, second := newPair(t, "1"), newPair(t, "2")
	l := newLab(t, first.public())
	old := first.sign(t, l.says(nil))
	l.admits(old)
	l.issuer.rotate(first.public(), second.public())
	fresh := second.sign(t, l.says(nil))
	l.refuses(fresh, auth.ErrUnknown) // no request again so soon
	l.move(tuning.KeysRetry)
	l.admits(fresh)
	l.admits(old)
	l.issuer.rotate(second.public())
	l.move(tuning.KeysTrusted)
	l.admits(second.sign(t, l.says(map[string]any{"sub": "8"})))
	l.refuses(old, auth.ErrUnknown)
	l.admits(fresh)
}

// A different key under a known id is a new key.
func TestAKeyUnderAnOldID(t *testing.T) {
	t.Parallel()
	first, second := newPair(t, "1"), newPair(t, "1")
	l := newLab(t, first.public())
	l.admits(first.sign(t, l.says(nil)))
	l.issuer.rotate(second.public())
	l.move(tuning.KeysRetry)
	l.admits(second.sign(t, l.says(nil)))
	l.refuses(first.sign(t, l.says(nil)), auth.ErrUnknown)
}

// Invented tokens cause no storm of requests.
func TestTheIssuerIsNotAskedForEachToken(t *testing.T) {
	t.Parallel()
	key, stranger := newPair(t, "1"), newPair(t, "2")
	l := newLab(t, key.public())
	for range 100 {
		l.refuses(stranger.sign(t, l.says(nil)), auth.ErrUnknown)
	}
	l.admits(key.sign(t, l.says(nil)))
	require.EqualValues(t, 2, l.issuer.asked.Load(), "where its keys are, and the keys")
}

// A verified token is not verified again until it expires.
func TestVerifiedTokensAreRemembered(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	l := newLab(t, key.public())
	token := key.sign(t, l.says(nil))
	first := l.admits(token)
	require.Same(t, first, l.admits(token), "it was not read anew")
	l.move(time.Hour + time.Second)
	l.refuses(token, auth.ErrExpired)
	l.refuses(token, auth.ErrExpired)
}

// The cache of verified tokens is bounded: dropped ones are verified again.
func TestRememberedTokensAreBounded(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	l := newLab(t, key.public())
	token := key.sign(t, l.says(nil))
	first := l.admits(token)
	for n := range tuning.VerifiedTokens {
		digest := sha256.Sum256([]byte{byte(n), byte(n >> 8)}) // as of another token
		_, err := l.Bearer(t.Context(), token, digest)
		require.NoError(t, err)
	}
	require.NotSame(t, first, l.admits(token))
}

// While the issuer does not answer, cached tokens remain valid, no new one is admitted, and the
// log has one line.
func TestAnIssuerThatIsGone(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	i := newIssuer(t, key.public())
	l := labAt(t, i)
	known := key.sign(t, l.says(nil))
	l.admits(known)
	require.Empty(t, l.Outage())
	i.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for range 3 {
		l.move(tuning.KeysTrusted)
		l.refuses(key.sign(t, l.says(map[string]any{"sub": "8"})), auth.ErrNoProvider)
	}
	l.admits(known)
	l.refuses("s3cr3t", auth.ErrUnknown)
	require.Equal(t, "the identity provider does not answer", l.Outage())
	require.Equal(t, 1, strings.Count(l.log.String(), "\n"), l.log)
	require.Contains(t, l.log.String(), "level=WARN")
	i.answer(nil)
	l.move(tuning.KeysRetry)
	l.admits(key.sign(t, l.says(map[string]any{"sub": "8"})))
	require.Empty(t, l.Outage())
	require.Equal(t, 2, strings.Count(l.log.String(), "\n"), l.log)
}

func TestAnIssuerThatListensNoMore(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	i := newIssuer(t, key.public())
	l := labAt(t, i)
	i.Close()
	l.refuses(key.sign(t, l.says(nil)), auth.ErrNoProvider)
	require.NotEmpty(t, l.Outage())
}

// No caller waits longer for a slow issuer than its own timeout, and a slow request ends.
func TestASlowIssuer(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	l := newLab(t, key.public())
	began := make(chan struct{})
	ctx, hangUp := context.WithCancel(t.Context())
	l.issuer.answer(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	})
	go func() {
		<-began
		hangUp()
	}()
	token := key.sign(t, l.says(nil))
	_, err := l.Bearer(ctx, token, sha256.Sum256([]byte(token)))
	require.ErrorIs(t, err, auth.ErrNoProvider)
	require.ErrorIs(t, err, context.Canceled)
	l.issuer.CloseClientConnections()
	l.refuses(token, auth.ErrNoProvider)
}

// False answers of a provider admit no token.
func TestAnIssuerThatLies(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	public := key.public()
	elsewhere := newIssuer(t, public)
	says := func(status int, header, text string) func(*issuer) http.HandlerFunc {
		return func(i *issuer) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/.well") || header == "" && strings.HasPrefix(text, "{\"keys") {
					w.Header().Set("Content-Type", "application/json")
				}
				if header != "" {
					w.Header().Set("Location", header)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.ReplaceAll(text, "ISSUER", i.URL))
			}
		}
	}
	for name, instead := range map[string]func(*issuer) http.HandlerFunc{
		"to be another":            says(200, "", `{"issuer":"https://elsewhere.example","jwks_uri":"ISSUER/keys"}`),
		"to have its keys nowhere": says(200, "", `{"issuer":"ISSUER","jwks_uri":""}`),
		"to have them in a file":   says(200, "", `{"issuer":"ISSUER","jwks_uri":"file:///etc/passwd"}`),
		"keys that are none":       says(200, "", `{"issuer":"ISSUER","jwks_uri":"ISSUER/.well-known/x"}`),
		"no JSON":                  says(200, "", `<html>`),
		"that it is elsewhere":     says(302, elsewhere.URL+"/.well-known/openid-configuration", ""),
		"for too long":             says(200, "", `{"issuer":"ISSUER","jwks_uri":"ISSUER/keys","x":"`+strings.Repeat("x", tuning.ProviderBytes)+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, public)
			l.issuer.answer(instead(l.issuer))
			l.refuses(key.sign(t, l.says(nil)), auth.ErrNoProvider)
			l.issuer.answer(nil)
			l.move(tuning.KeysRetry)
			l.admits(key.sign(t, l.says(nil)))
		})
	}
	require.Zero(t, elsewhere.asked.Load(), "redirects are not followed")
}

// Keys of a set that verify no tokens are skipped. A secret key above all: every reader of the
// set could sign with it.
func TestKeysThatVerifyNothing(t *testing.T) {
	t.Parallel()
	key, encrypts, other := newPair(t, "1"), newPair(t, "2"), newPair(t, "3")
	forEncryption, forAnother := encrypts.public(), other.public()
	forEncryption.Use, forAnother.Algorithm = "enc", string(jose.ES384)
	secret := jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: "4"}
	l := newLab(t, map[string]any{"kty": "new", "kid": "5"}, forEncryption, forAnother, secret, key.public())
	l.admits(key.sign(t, l.says(nil)))
	l.refuses(encrypts.sign(t, l.says(nil)), auth.ErrUnknown)
	l.refuses(other.sign(t, l.says(nil)), auth.ErrUnknown)
	l.refuses(signed(t, jose.SigningKey{Algorithm: jose.HS256, Key: secret}, l.says(nil)), auth.ErrUnknown)

	none := newLab(t, secret)
	none.refuses(key.sign(t, none.says(nil)), auth.ErrNoProvider)
	require.Contains(t, none.log.String(), "no key that signs tokens")
}

// Keep fetches the keys before the first token.
func TestKeep(t *testing.T) {
	t.Parallel()
	key := newPair(t, "1")
	l := newLab(t, key.public())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.RefreshKeys(ctx)
	}()
	require.Eventually(t, func() bool { return l.issuer.asked.Load() == 2 }, time.Minute, time.Millisecond)
	stop()
	<-ended
	l.admits(key.sign(t, l.says(nil)))
	require.EqualValues(t, 2, l.issuer.asked.Load())
}

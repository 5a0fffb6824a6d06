package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client that an [Issuer] knows.
const (
	ClientID     = "console"
	ClientSecret = "s3cret of the client"
)

// Issuer is an identity provider whose user is signed in already.
type Issuer struct {
	*httptest.Server
	t   *testing.T
	key *ecdsa.PrivateKey

	mu sync.Mutex
	// says are claims of the next token, in addition to the usual ones or in place of them.
	says map[string]any
	// codes are the requests for authorization, by the code that answered them.
	codes map[string]url.Values
	// scopes are those that it publishes.
	scopes []string
	// broken reports whether it exchanges no code.
	broken bool
}

// New starts an issuer.
func New(t *testing.T) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{t: t, key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		answer(w, http.StatusOK, map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "scopes_supported": i.scopes,
			"authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Use: "sig",
			Algorithm: string(jose.ES256)}}})
	})
	mux.HandleFunc("/authorize", i.authorize)
	mux.HandleFunc("/token", i.token)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// Says sets claims of the tokens to come; one that is nil is left out.
func (i *Issuer) Says(claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.says = claims
}

// Knows publishes scopes. A token then has the groups only if a scope of this name was asked for.
func (i *Issuer) Knows(scopes ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.scopes = scopes
}

// Breaks answers further codes as a proxy does whose provider is away.
func (i *Issuer) Breaks() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.broken = true
}

// Visit goes where a sign-in leads, as the browser does, and returns where it is sent back to.
func (i *Issuer) Visit(to string) *url.URL {
	i.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	_ = response.Body.Close()
	back, err := response.Location()
	if err != nil || response.StatusCode != http.StatusFound {
		i.t.Fatalf("the issuer answers %s and leads nowhere", response.Status)
	}
	return back
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	if asked.Get("client_id") != ClientID || asked.Get("response_type") != "code" || asked.Get("code_challenge_method") != "S256" ||
		asked.Get("nonce") == "" {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = asked
	i.mu.Unlock()
	http.Redirect(w, r, asked.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode(), http.StatusFound)
}

// token exchanges a code, once, for who has the verifier and the secret.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	code := r.PostFormValue("code")
	i.mu.Lock()
	asked, known := i.codes[code]
	delete(i.codes, code)
	broken := i.broken
	i.mu.Unlock()
	if broken {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if secret, _ = url.QueryUnescape(secret); id != ClientID || secret != ClientSecret {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": i.sign(asked)})
}

func (i *Issuer) sign(asked url.Values) string {
	now := time.Now()
	claims := map[string]any{
		"iss": i.URL, "aud": ClientID, "sub": "7", "preferred_username": "ada", "groups": []string{"shop", "everybody"},
		"nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	i.mu.Lock()
	if slices.Contains(i.scopes, "groups") && !slices.Contains(strings.Fields(asked.Get("scope")), "groups") {
		delete(claims, "groups")
	}
	maps.Copy(claims, i.says)
	i.mu.Unlock()
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "1"}}, nil)
	if err != nil {
		return ""
	}
	text, _ := json.Marshal(claims) // maps of texts and numbers
	signed, err := signer.Sign(text)
	if err != nil {
		return ""
	}
	token, _ := signed.CompactSerialize() // it is signed
	return token
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who hung up has no use for it
}

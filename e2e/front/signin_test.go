package front

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/auth"
)

// signedIn is the token of somebody who signs in at a provider as a browser does.
func signedIn(t *testing.T, provider *mockoidc.MockOIDC, user *mockoidc.MockUser) (token string) {
	t.Helper()
	provider.QueueUser(user)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer browser.CloseIdleConnections()
	const page = "https://wakecall.example/console/"
	config := provider.Config()
	asked, err := browser.Get(config.Issuer + "/authorize?" + url.Values{
		"client_id": {config.ClientID}, "redirect_uri": {page}, "response_type": {"code"}, "scope": {"openid profile email groups"}, "state": {"s"}, "nonce": {"n"},
	}.Encode())
	require.NoError(t, err)
	require.NoError(t, asked.Body.Close())
	back, err := asked.Location()
	require.NoError(t, err, asked.Status)
	answer, err := browser.PostForm(config.Issuer+"/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {page}, "client_id": {config.ClientID}, "client_secret": {config.ClientSecret},
	})
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	var given struct {
		Token string `json:"id_token"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&given))
	require.NotEmpty(t, given.Token)
	return given.Token
}

func mapping(t *testing.T, text string) auth.Mapping {
	found, err := auth.ParseMapping(text)
	require.NoError(t, err)
	return found
}

// People who sign in at a provider may do what their groups may, beside those who have keys.
// When the provider is gone those go on who are known, nobody new comes in, and /readyz says so.
func TestSignInAtAProvider(t *testing.T) {
	t.Parallel()
	provider, err := mockoidc.Run()
	require.NoError(t, err)
	defer func() { _ = provider.Shutdown() }()
	kind := sample.Type(t)
	settings := testenv.Settings()
	settings.OIDCIssuer, settings.OIDCAudience, settings.OIDCGroups = provider.Issuer(), provider.Config().ClientID, "groups"
	settings.OIDCRoles = []auth.Mapping{mapping(t, "ops=admin"), mapping(t, "shop=operator:"+kind), mapping(t, "desk=viewer:"+kind)}
	secret, key, err := auth.NewKey("ci", auth.Grant{Role: auth.Admin, Types: []string{auth.AllBusinessTypes}})
	require.NoError(t, err)
	settings.APIKeys = []auth.Key{key}
	env := testenv.OpenWith(t, testenv.Addr, settings)
	call := func(token, method, path, body string) testenv.Reply {
		var sent any
		if body != "" {
			sent = body
		}
		request := env.Request(method, path, sent)
		request.Header.Set("Authorization", "Bearer "+token)
		return env.Send(request)
	}
	user := func(subject string, groups ...string) *mockoidc.MockUser {
		return &mockoidc.MockUser{Subject: subject, PreferredUsername: subject + "@example.com", Groups: groups}
	}
	ada, bob, cyd, dan := signedIn(t, provider, user("ada", "staff", "ops")), signedIn(t, provider, user("bob", "shop")), signedIn(t, provider, user("cyd", "desk")), signedIn(t, provider, user("dan", "staff"))
	policy, booking := "/v1/policies/"+kind, `{"business_type":"`+kind+`","business_id":"1","delay":"1h","callback":{"url":"https://example.com"}}`
	for _, c := range []struct {
		token, method, path, body string
		want                      int
	}{
		{ada, "PUT", policy, `{"callback":{"url":"https://example.com"}}`, 201},
		{bob, "PUT", policy, `{"callback":{"url":"https://example.com"}}`, 403},
		{cyd, "POST", "/v1/timers", booking, 403},
		{bob, "POST", "/v1/timers", booking, 201},
		{cyd, "GET", "/v1/timers/" + kind + "/1", "", 200},
		{dan, "GET", "/v1/timers/" + kind + "/1", "", 403},
		{bob, "GET", "/v1/timers/" + kind + ".other/1", "", 403},
		{dan, "GET", "/v1/whoami", "", 200},
		{secret, "GET", "/v1/keys", "", 200},
		{ada + "x", "GET", "/v1/whoami", "", 401},
	} {
		reply := call(c.token, c.method, c.path, c.body)
		require.Equal(t, c.want, reply.Status, "%s %s: %s", c.method, c.path, reply.Body)
	}
	require.JSONEq(t, `{"name":"bob@example.com","id":"bob","by":"oidc","grants":[{"role":"operator","payloads":true,"business_types":["`+kind+`"]}]}`, string(call(bob, "GET", "/v1/whoami", "").Body))
	require.Contains(t, string(call(ada, "GET", policy+"/versions", "").Body), `"ada@example.com"`, "the author of a change")
	require.NotContains(t, string(env.Do("GET", "/readyz", nil).Body), "provider")

	require.NoError(t, provider.Shutdown())
	require.Equal(t, http.StatusOK, call(bob, "GET", "/v1/timers/"+kind+"/1", "").Status, "who is known goes on")
	env = testenv.OpenWith(t, testenv.Addr, settings) // which knows nobody yet
	reply := call(bob, "GET", "/v1/whoami", "")
	require.Equal(t, http.StatusServiceUnavailable, reply.Status)
	require.Equal(t, "urn:wakecall:problem:sign-in-unavailable", reply.Problem().Type)
	require.NotEmpty(t, reply.Header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, call(secret, "GET", "/v1/whoami", "").Status)
	require.Equal(t, http.StatusUnauthorized, call("guessed", "GET", "/v1/whoami", "").Status)
	require.Contains(t, string(env.Do("GET", "/readyz", nil).Body), `"note":"the identity provider does not answer"`)
}

// certificate makes one that is its own authority, and writes it and its key to files.
func certificate(t *testing.T, name string) (pair tls.Certificate, certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "crt.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, certFile, keyFile
}

// The gateway's own TLS, by its settings: a certificate of a client shows who calls, and one
// that is renewed is served without a restart.
func TestCertificatesAtTheGateway(t *testing.T) {
	t.Parallel()
	kind, settings := sample.Type(t), testenv.Settings()
	own, certFile, keyFile := certificate(t, "gateway")
	shop, shopFile, _ := certificate(t, "shop")
	settings.TLSCert, settings.TLSKey, settings.TLSClientCA = certFile, keyFile, shopFile
	settings.TLSRoles = []auth.Mapping{mapping(t, "shop=viewer:"+kind)}
	env := testenv.OpenWith(t, testenv.Addr, settings)
	addr := env.Serve()
	get := func(server, client tls.Certificate, path string) (int, error) {
		roots := x509.NewCertPool()
		roots.AddCert(server.Leaf)
		config := &tls.Config{RootCAs: roots}
		if client.Leaf != nil {
			config.Certificates = []tls.Certificate{client}
		}
		caller := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
		answer, err := caller.Get("https://" + addr + path)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	for path, want := range map[string]int{"/v1/whoami": 200, "/v1/timers?business_type=" + kind: 200, "/v1/timers": 403, "/v1/timers/" + kind + ".other/1": 403, "/v1/keys": 403} {
		status, err := get(own, shop, path)
		require.NoError(t, err)
		require.Equal(t, want, status, path)
	}
	status, err := get(own, tls.Certificate{}, "/v1/whoami")
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)
	status, err = get(own, tls.Certificate{}, "/livez")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)

	next, nextFile, nextKey := certificate(t, "gateway")
	require.NoError(t, os.Rename(nextFile, certFile))
	require.NoError(t, os.Rename(nextKey, keyFile))
	_, err = get(own, shop, "/v1/whoami")
	require.Error(t, err, "the control: another certificate is served")
	status, err = get(next, shop, "/v1/whoami")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

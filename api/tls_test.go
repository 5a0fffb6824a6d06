package api

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/internal/auth"
)

// pair is a certificate for 127.0.0.1 that is its own authority.
func pair(t *testing.T, name string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{"Example"}}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// secured is a front over TLS, and how to call it with a certificate or, where it has none,
// without.
func secured(t *testing.T, client tls.Certificate) (gateway, func(headers ...string) (int, string)) {
	own, clients, roots := pair(t, "gateway"), x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(own.Leaf)
	clients.AddCert(pair(t, "other").Leaf)
	if client.Leaf != nil {
		clients.AddCert(client.Leaf)
	}
	mapping, err := auth.ParseMapping("shop=operator:order")
	require.NoError(t, err)
	f := openFront(t, Options{
		Front: front.Options{Auth: authOf(t, "ops", "").WithSubjects(auth.Mappings{mapping})},
		TLS:   &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven},
	})
	settings := &tls.Config{RootCAs: roots}
	if client.Leaf != nil {
		settings.Certificates = []tls.Certificate{client}
	}
	return f, func(headers ...string) (int, string) {
		conn, err := (&tls.Dialer{Config: settings}).DialContext(t.Context(), "tcp", f.addr)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, "GET /v1/timers?business_type=order HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n"+strings.Join(append(headers, ""), "\r\n")+"\r\n")
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(body)
	}
}

// A certificate shows who calls, and may do what the mapping says of its common name.
func TestACertificateShowsWhoCalls(t *testing.T) {
	t.Parallel()
	f, call := secured(t, pair(t, "shop"))
	status, body := call()
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, f.logged.String(), `"client":"shop"`)
	status, _ = call("Authorization: Bearer secret")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, f.logged.String(), `"client":"ops"`, "who sends a key means it")
	status, _ = call("Authorization: Bearer wrong")
	require.Equal(t, http.StatusUnauthorized, status, "and the certificate does not make up for it")
	status, _ = call("Authorization: a", "Authorization: b")
	require.Equal(t, http.StatusUnauthorized, status)
}

// A browser shows the certificate by itself, whatever page makes it call; a key it has not.
func TestPagesCannotUseTheCertificateOfABrowser(t *testing.T) {
	t.Parallel()
	_, call := secured(t, pair(t, "shop"))
	for _, header := range []string{"Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site"} {
		status, body := call(header)
		require.Equal(t, http.StatusForbidden, status, body)
		require.Contains(t, body, "another origin")
		status, _ = call(header, "Authorization: Bearer secret")
		require.Equal(t, http.StatusOK, status)
	}
	status, _ := call("Sec-Fetch-Site: same-origin", "Origin: https://gateway")
	require.Equal(t, http.StatusOK, status)
}

// Whose name stands in no mapping is known, and may do nothing. Who shows none is unknown.
func TestCertificatesWithoutARole(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"stranger": http.StatusForbidden, "Shop": http.StatusForbidden, "": http.StatusUnauthorized, "a\nb": http.StatusUnauthorized} {
		_, call := secured(t, pair(t, name))
		status, body := call()
		require.Equal(t, want, status, "%q: %s", name, body)
	}
	_, call := secured(t, tls.Certificate{})
	status, _ := call()
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = call("Authorization: Bearer secret")
	require.Equal(t, http.StatusOK, status)
}

// How requests are framed is followed within TLS, and nothing is answered without TLS.
func TestTLSHidesNothingFromTheFraming(t *testing.T) {
	t.Parallel()
	f, call := secured(t, pair(t, "shop"))
	status, body := call("Content-Length: 3", "Transfer-Encoding: chunked", "", "0", "")
	require.Equal(t, http.StatusBadRequest, status, body)
	require.Contains(t, body, "not both")
	answers, _ := f.say(http.MethodGet, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.Empty(t, answers)
}

// A handshake that fails is in the log, with its cause and where it came from: no request tells of it. A
// client that only goes away is not.
func TestFailedHandshakesAreLogged(t *testing.T) {
	t.Parallel()
	const line = "a TLS handshake failed"
	for name, c := range map[string]struct {
		client tls.Certificate
		text   string // sent without TLS; "" for a handshake
		trusts bool
		want   string
	}{
		"a foreign certificate":        {client: pair(t, "stranger"), trusts: true, want: "certificate signed by unknown authority"},
		"a client that does not trust": {want: "remote error: tls: bad certificate"},
		"no TLS":                       {text: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", want: "first record does not look like a TLS handshake"},
		"a broken hello":               {text: "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", want: "local error: tls: error decoding message"},
		"a probe":                      {text: "\x16"},
		"in order":                     {trusts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := secured(t, tls.Certificate{})
			if c.text != "" {
				knock(t, f.addr, c.text)
			} else {
				shake(t, f.addr, &tls.Config{
					ServerName: "127.0.0.1", RootCAs: x509.NewCertPool(), InsecureSkipVerify: c.trusts, //nolint:gosec // that is the case
					GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c.client, nil },
				})
			}
			f.stop()
			if c.want == "" {
				require.NotContains(t, f.logged.String(), line)
				return
			}
			require.Contains(t, f.logged.String(), `"level":"INFO","msg":"`+line+`","from":"127.0.0.1","cause":"`)
			require.Contains(t, f.logged.String(), c.want)
		})
	}
}

// knock sends a text, ends its half, and waits until the server hangs up.
func knock(t *testing.T, addr, text string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	_, _ = io.Copy(io.Discard, conn)
}

// shake makes a handshake and one request, whatever comes of them, and waits until the server hangs up.
func shake(t *testing.T, addr string, settings *tls.Config) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	client := tls.Client(conn, settings)
	_, _ = io.WriteString(client, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	_, _ = io.Copy(io.Discard, client)
	_, _ = io.Copy(io.Discard, conn)
}

// A certificate that ends while its connection goes on shows nobody any more.
func TestACertificateEndsWithItsTime(t *testing.T) {
	t.Parallel()
	shop := pair(t, "shop")
	by := auth.New(nil)
	_, err := by.Authenticate(context.Background(), auth.Shown{Certificate: shop.Leaf})
	require.NoError(t, err, "the control")
	shop.Leaf.NotAfter = time.Now().Add(-time.Second)
	_, err = by.Authenticate(context.Background(), auth.Shown{Certificate: shop.Leaf})
	require.ErrorIs(t, err, auth.ErrUnknown)
}

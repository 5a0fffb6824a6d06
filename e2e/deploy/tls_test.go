package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// nginx passes requests to the API unchanged, and names the sender.
func TestTLSInFront(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		seen <- r
	}))
	t.Cleanup(api.Close)
	addr, authority := proxied(t, strings.TrimPrefix(api.URL, "http://"))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	call := func(path, body string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+addr+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-Forwarded-For", "8.8.8.8")
		request.Header.Set("Authorization", "Bearer key")
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response
	}
	// The body is larger than the API allows: the API must refuse it, and not nginx.
	require.Equal(t, http.StatusOK, call("/v1/timers/a/b%2Fc%7e//?x=%2F", strings.Repeat("x", 2<<20)).StatusCode)
	request := <-seen
	require.Equal(t, "/v1/timers/a/b%2Fc%7e//?x=%2F", request.RequestURI)
	require.Equal(t, []string{"127.0.0.1"}, request.Header["X-Forwarded-For"], "whatever the client says of itself")
	require.Equal(t, "https", request.Header.Get("X-Forwarded-Proto"))
	require.Equal(t, "Bearer key", request.Header.Get("Authorization"))
	require.Equal(t, addr, request.Host, "with the port, as in the origin of a page")

	require.Equal(t, http.StatusNotFound, call("/metrics", "").StatusCode)
	require.Empty(t, seen, "metrics are not for everybody")
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/livez", nil)
	require.NoError(t, err)
	response, err := client.Do(plain)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusBadRequest, response.StatusCode, "nothing goes unencrypted")
}

// A recreated container may have another address. Debian's nginx is too old to resolve it
// again, so this compares nginx's requirements with the configuration.
func TestTLSFollowsItsGateways(t *testing.T) {
	t.Parallel()
	services := composed(t).Services
	var major, minor, patch int
	_, err := fmt.Sscanf(tagged(services["tls"].Image), "nginx:%d.%d.%d", &major, &minor, &patch)
	require.NoError(t, err)
	require.GreaterOrEqual(t, major*1_000_000+minor*1_000+patch, 1_027_003, "the first nginx that resolves the servers of an upstream again")
	text, err := os.ReadFile("../../deploy/tls/nginx.conf")
	require.NoError(t, err)
	require.Regexp(t, `(?s)\n\tresolver 127\.0\.0\.11 valid=10s;.*\n\tupstream api \{[^}]*\n\t\tzone api \w+;[^}]*\n\t\tserver gateway:8080 resolve;`, string(text),
		"names are asked for at Docker's server, and what they mean is shared by the workers")
	for _, gateway := range []string{"wakecall", "api"} {
		require.Contains(t, services[gateway].Networks["default"].Aliases, "gateway")
	}
}

// A receiver that connects does so through nginx, too.
func TestAWebSocketThroughTLS(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		_ = ws.Write(r.Context(), websocket.MessageText, []byte(r.RequestURI))
		_ = ws.Close(websocket.StatusNormalClosure, "")
	}))
	t.Cleanup(api.Close)
	addr, authority := proxied(t, strings.TrimPrefix(api.URL, "http://"))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}
	t.Cleanup(transport.CloseIdleConnections)
	ws, _, err := websocket.Dial(t.Context(), "wss://"+addr+"/v1/streams/order?window=3", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, err)
	_, text, err := ws.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "/v1/streams/order?window=3", string(text))
	require.NoError(t, ws.CloseNow())
}

// A client that does not read holds its gateway back. What nginx keeps for it would be memory of its container.
func TestASlowReaderHoldsItsGatewayBack(t *testing.T) {
	t.Parallel()
	const mebibytes = 64 // more than all buffers on the way have room for
	for name, c := range map[string]struct {
		edits []string
		// patience is how long the gateway waits until a mebibyte is taken; 0 for ever.
		patience time.Duration
		sent     bool
	}{
		"as it is shipped":                 {patience: 2 * time.Second},
		"the control: nginx keeps answers": {edits: []string{"proxy_max_temp_file_size 0;", ""}, sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := make(chan bool, 1)
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				control, chunk := http.NewResponseController(w), make([]byte, 1<<20)
				for range mebibytes {
					if c.patience > 0 {
						_ = control.SetWriteDeadline(time.Now().Add(c.patience))
					}
					if _, err := w.Write(chunk); err != nil {
						sent <- false
						return
					}
				}
				sent <- true
			}))
			t.Cleanup(api.Close)
			addr, authority := proxied(t, strings.TrimPrefix(api.URL, "http://"), c.edits...)
			client, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12})
			require.NoError(t, err)
			defer func() { _ = client.Close() }()
			_, err = client.Write([]byte("GET /v1/bulk/a/results HTTP/1.1\r\nHost: wakecall.example\r\n\r\n"))
			require.NoError(t, err)
			require.Equal(t, c.sent, <-sent)
		})
	}
}

// proxied runs nginx on the configuration of the profile tls, with paths and addresses of
// this machine. edits are texts of it and what stands in their place, by turns.
func proxied(t *testing.T, api string, edits ...string) (addr string, authority *x509.CertPool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wakecall-tls-") //nolint:usetesting // short, and for others to enter: its workers are nobody
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	addr = loopback.Addr()
	authority = certificate(t, dir, loopback.Host())
	text, err := os.ReadFile("../../deploy/tls/nginx.conf")
	require.NoError(t, err)
	here := append(edits,
		"listen 8443 ssl", "listen "+addr+" ssl", "server gateway:8080 resolve", "server "+api, "/etc/nginx/tls/", dir+"/", " /tmp/", " "+dir+"/",
	)
	for i := 0; i < len(here); i += 2 {
		require.Contains(t, string(text), here[i])
	}
	config := strings.NewReplacer(here...).Replace(string(text))
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	require.NotContains(t, process.Execute(t, "/usr/sbin/nginx", "-t", "-e", "stderr", "-c", file), "[warn]")
	process.Start(t, process.Command{Path: "/usr/sbin/nginx", Args: []string{"-e", "stderr", "-c", file, "-g", "daemon off; master_process off;"}, Ready: "tcp://" + addr})
	return addr, authority
}

// certificate writes a certificate for a host, and its key, to a directory.
func certificate(t *testing.T, dir, host string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(host)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"fullchain.pem": {Type: "CERTIFICATE", Bytes: raw}, "privkey.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	parsed, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

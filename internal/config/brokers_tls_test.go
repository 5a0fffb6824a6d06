package config_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pemFile writes a file of one block in PEM, and returns its name.
func pemFile(t *testing.T, dir, kind string, der []byte) (name string) {
	name = filepath.Join(dir, kind[:4]+".pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return name
}

// The files of a broker's entry decide which server is trusted, and as which client it is
// called.
func TestTLSOfABroker(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	pair, dir := server.TLS.Certificates[0], t.TempDir() // also serves as the client's
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	crt, secret := pemFile(t, dir, "CERTIFICATE", pair.Certificate[0]), pemFile(t, dir, "PRIVATE KEY", key)
	for settings, want := range map[string]string{
		fmt.Sprintf(`{"ca_file": %q, "certificate_file": %q, "key_file": %q}`, crt, crt, secret): "",
		fmt.Sprintf(`{"ca_file": %q}`, crt):                                  "certificate required",
		fmt.Sprintf(`{"certificate_file": %q, "key_file": %q}`, crt, secret): "certificate signed by unknown authority",
	} {
		found, err := brokersIn(t, `{"brokers": [{"name": "main", "url": "amqps://h/", "tls": `+settings+`}]}`)
		require.NoError(t, err)
		conn, err := tls.Dial("tcp", server.Listener.Addr().String(), found[0].TLS)
		if err == nil {
			_, err = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
			if err == nil { // a server of TLS 1.3 refuses a client afterwards
				_, err = conn.Read(make([]byte, 1))
			}
			_ = conn.Close()
		}
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

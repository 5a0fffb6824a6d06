package activities

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wakecall/wakecall/timer"
)

// authority signs certificates that a test makes.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority makes an authority whose own name differs from every other one.
func newAuthority(t *testing.T, name string) authority {
	a := authority{t: t}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	require.NoError(t, err)
	a.certificate, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return a
}

func (a authority) pem() string { return inPEM("CERTIFICATE", a.certificate.Raw) }

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// sign makes a certificate for loopback, or as change leaves it, and its key.
func (a authority) sign(change func(*x509.Certificate)) (certificate, key string) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "somebody"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &own.PublicKey, a.key)
	require.NoError(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	require.NoError(a.t, err)
	return inPEM("CERTIFICATE", der), inPEM("PRIVATE KEY", pkcs8)
}

func inPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// serveTLS starts a receiver with a certificate of the authority, and says the
// name of the client certificate that it was shown. It tells of each connection.
func (a authority) serveTLS(change func(*x509.Certificate), adjust func(*tls.Config)) (url string, connections func() int) {
	certificate, key := a.sign(change)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	require.NoError(a.t, err)
	opened := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(len(r.TLS.PeerCertificates)))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened <- struct{}{}
		}
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if adjust != nil {
		adjust(server.TLS)
	}
	server.StartTLS()
	a.t.Cleanup(server.Close)
	return server.URL, func() int { return len(opened) }
}

func trusting(t *testing.T, roots *x509.CertPool) *Caller {
	transport := NewTransport([]netip.Prefix{loopback}, roots)
	caller := NewCaller(transport, noop.NewTracerProvider().Tracer(""), "test", func() {})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		caller.links.kept.Purge()
	})
	return caller
}

func (c *Caller) postWith(t *testing.T, url string, settings *timer.TLS) exchange {
	return c.call(t.Context(), request{url: url, timeout: 5 * time.Second, headers: map[string]string{}, tls: settings})
}

// The class of a failure tells what is wrong with the certificate.
func TestBadTLS(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t, "ours"), newAuthority(t, "stranger")
	caller := trusting(t, ours.pool())
	demand := func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, ours.pool() }
	for name, c := range map[string]struct {
		by     authority
		change func(*x509.Certificate)
		adjust func(*tls.Config)
		want   timer.Trouble
	}{
		"in order":    {by: ours},
		"expired":     {by: ours, change: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, want: timer.TLSExpired},
		"not yet":     {by: ours, change: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }, want: timer.TLSExpired},
		"wrong name":  {by: ours, change: func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} }, want: timer.TLSWrongName},
		"stranger":    {by: stranger, want: timer.TLSUnknownIssuer},
		"no server":   {by: ours, change: func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }, want: timer.TLSFailure},
		"old version": {by: ours, adjust: func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }, want: timer.TLSProtocol},
		"no cipher": {by: ours, adjust: func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
		}, want: timer.TLSProtocol},
		"demands a certificate":     {by: ours, adjust: demand, want: timer.TLSClientCertificate},
		"demands one, with TLS 1.2": {by: ours, adjust: func(c *tls.Config) { demand(c); c.MaxVersion = tls.VersionTLS12 }, want: timer.TLSClientCertificate},
	} {
		url, _ := c.by.serveTLS(c.change, c.adjust)
		x := caller.postWith(t, url, nil)
		require.Equal(t, c.want, x.answer.Trouble, name)
		if c.want != timer.NoTrouble {
			require.Equal(t, string(c.want), strings.Split(x.answer.Describe(), ":")[0], name)
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	x := caller.postWith(t, strings.Replace(plain.URL, "http:", "https:", 1), nil)
	require.Equal(t, timer.TLSProtocol, x.answer.Trouble)
	require.True(t, x.firstByte.IsZero())
}

// A policy's CA and client certificate are used for it alone, on connections that
// are kept.
func TestTLSOfAPolicy(t *testing.T) {
	t.Parallel()
	theirs, clients, strangers := newAuthority(t, "theirs"), newAuthority(t, "clients"), newAuthority(t, "strangers")
	url, connections := theirs.serveTLS(nil, func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, clients.pool() })
	caller := trusting(t, nil)
	certificate, key := clients.sign(nil)
	settings := &timer.TLS{CA: theirs.pem(), ClientCertificate: certificate, ClientKey: key}
	require.Empty(t, settings.Check())
	for range 3 {
		x := caller.postWith(t, url, settings)
		require.Equal(t, timer.Answer{Status: 200, RetryAfter: "1"}, x.answer)
	}
	require.Equal(t, 1, connections(), "one connection is used again")

	require.Equal(t, timer.TLSUnknownIssuer, caller.postWith(t, url, nil).answer.Trouble, "no other type trusts it")
	require.Equal(t, timer.TLSClientCertificate, caller.postWith(t, url, settings.Trust()).answer.Trouble,
		"nobody else goes by its connection")
	wrong, wrongKey := strangers.sign(nil)
	refused := &timer.TLS{CA: theirs.pem(), ClientCertificate: wrong, ClientKey: wrongKey}
	require.Equal(t, timer.TLSClientCertificate, caller.postWith(t, url, refused).answer.Trouble)
}

// What is kept is bounded; a configuration that was dropped closes its
// connections, and is made again when it is asked for.
func TestTLSConfigurationsAreBounded(t *testing.T) {
	t.Parallel()
	theirs := newAuthority(t, "theirs")
	url, connections := theirs.serveTLS(nil, nil)
	caller := trusting(t, nil)
	first := &timer.TLS{CA: theirs.pem()}
	require.Equal(t, 200, caller.postWith(t, url, first).answer.Status)
	for i := range maxLinks {
		_, err := caller.links.of(&timer.TLS{CA: theirs.pem() + "# " + strconv.Itoa(i)})
		require.NoError(t, err)
	}
	require.Equal(t, maxLinks, caller.links.kept.Len())
	require.Equal(t, 200, caller.postWith(t, url, first).answer.Status)
	require.Equal(t, 2, connections(), "the first one is closed")
}

// The client certificate is for the receiver that the policy names.
func TestWhoIsShownTheClientCertificate(t *testing.T) {
	t.Parallel()
	p := plan{policy: timer.Policy{TLS: &timer.TLS{CA: "ca", ClientCertificate: "c", ClientKey: "k"}}}
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{}))
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{Callback: &timer.Callback{Timeout: 1}}))
	require.Equal(t, &timer.TLS{CA: "ca"}, p.tls(timer.Spec{Callback: &timer.Callback{URL: "https://elsewhere/"}}))
	require.Nil(t, plan{}.tls(timer.Spec{}))
	require.Equal(t, p.policy.TLS, alertRequest(timer.Policy{TLS: p.policy.TLS, Alert: &timer.Alert{}}, "x", nil).tls)
}

package httpsend

import (
	"context"
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

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
)

// authority signs certificates that a test makes.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority makes an authority with a unique name.
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

// sign makes a certificate and its key, for loopback or as change modifies it.
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

// serveTLS starts a receiver with a certificate of the authority. connections counts its
// connections.
func (a authority) serveTLS(change func(*x509.Certificate), adjust func(*tls.Config)) (url string, connections func() int) {
	certificate, key := a.sign(change)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	require.NoError(a.t, err)
	opened := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
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

func trusting(t *testing.T, roots *x509.CertPool) *Transport {
	transport := New(Config{Allowed: []netip.Prefix{loopback}, Roots: roots, UserAgent: "test", Resent: func() {}})
	t.Cleanup(transport.Close)
	return transport
}

func postWith(t *testing.T, c *Transport, url string, settings *policy.TLS) send.Outcome {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return c.Send(ctx, send.Envelope{Destination: delivery.HTTP(url), TLS: settings})
}

// The class of a failure names the fault of the certificate.
func TestBadTLS(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t, "ours"), newAuthority(t, "stranger")
	caller := trusting(t, ours.pool())
	demand := func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, ours.pool() }
	for name, c := range map[string]struct {
		by     authority
		change func(*x509.Certificate)
		adjust func(*tls.Config)
		want   delivery.FailureClass
	}{
		"in order":    {by: ours},
		"expired":     {by: ours, change: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, want: delivery.TLSExpired},
		"not yet":     {by: ours, change: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }, want: delivery.TLSExpired},
		"wrong name":  {by: ours, change: func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} }, want: delivery.TLSWrongName},
		"stranger":    {by: stranger, want: delivery.TLSUnknownIssuer},
		"no server":   {by: ours, change: func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }, want: delivery.TLSFailure},
		"old version": {by: ours, adjust: func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }, want: delivery.TLSProtocol},
		"no cipher": {by: ours, adjust: func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
		}, want: delivery.TLSProtocol},
		"demands a certificate":     {by: ours, adjust: demand, want: delivery.TLSClientCertificate},
		"demands one, with TLS 1.2": {by: ours, adjust: func(c *tls.Config) { demand(c); c.MaxVersion = tls.VersionTLS12 }, want: delivery.TLSClientCertificate},
	} {
		url, _ := c.by.serveTLS(c.change, c.adjust)
		x := postWith(t, caller, url, nil)
		require.Equal(t, c.want, x.Class, name)
		if c.want != delivery.NoFailure {
			require.Equal(t, string(c.want), strings.Split(x.Describe(), ":")[0], name)
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	x := postWith(t, caller, strings.Replace(plain.URL, "http:", "https:", 1), nil)
	require.Equal(t, delivery.TLSProtocol, x.Class)
	require.True(t, x.FirstByte.IsZero())
}

// A policy's CA and client certificate are used for it alone, on connections that are kept.
func TestTLSOfAPolicy(t *testing.T) {
	t.Parallel()
	theirs, clients, strangers := newAuthority(t, "theirs"), newAuthority(t, "clients"), newAuthority(t, "strangers")
	url, connections := theirs.serveTLS(nil, func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, clients.pool() })
	caller := trusting(t, nil)
	certificate, key := clients.sign(nil)
	settings := &policy.TLS{CA: theirs.pem(), ClientCertificate: certificate, ClientKey: key}
	require.Empty(t, settings.Check())
	for range 3 {
		x := postWith(t, caller, url, settings)
		require.Equal(t, delivery.Answer{Delivered: true, Status: 200}, x.Answer)
		require.Equal(t, "TLS 1.3", x.TLS.Version)
		require.True(t, x.TLS.Until.Time().After(time.Now()), "it is that of the receiver's certificate")
	}
	require.Equal(t, 1, connections(), "one connection is used again")

	require.Equal(t, delivery.TLSUnknownIssuer, postWith(t, caller, url, nil).Class, "no other type trusts it")
	require.Equal(t, delivery.TLSClientCertificate, postWith(t, caller, url, settings.Trust()).Class,
		"nobody else goes by its connection")
	wrong, wrongKey := strangers.sign(nil)
	refused := &policy.TLS{CA: theirs.pem(), ClientCertificate: wrong, ClientKey: wrongKey}
	require.Equal(t, delivery.TLSClientCertificate, postWith(t, caller, url, refused).Class)
}

// The number of kept configurations is bounded. A dropped one closes its connections, and is
// made again at its next use.
func TestTLSConfigurationsAreBounded(t *testing.T) {
	t.Parallel()
	theirs := newAuthority(t, "theirs")
	url, connections := theirs.serveTLS(nil, nil)
	caller := trusting(t, nil)
	first := &policy.TLS{CA: theirs.pem()}
	require.Equal(t, 200, postWith(t, caller, url, first).Status)
	for i := range tuning.TLSConfigs {
		_, err := caller.transports.transportFor(&policy.TLS{CA: theirs.pem() + "# " + strconv.Itoa(i)})
		require.NoError(t, err)
	}
	require.Equal(t, tuning.TLSConfigs, caller.transports.made.Len())
	require.Equal(t, 200, postWith(t, caller, url, first).Status)
	require.Equal(t, 2, connections(), "the first one is closed")
}

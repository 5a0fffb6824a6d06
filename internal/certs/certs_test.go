package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/certs"
)

// authority signs certificates.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{t, certificate, key}
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// issue makes a certificate for 127.0.0.1 and its key, in PEM.
func (a authority) issue(name string, ends time.Time) (certificate, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: ends, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	require.NoError(a.t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

func (a authority) client(ends time.Time) tls.Certificate {
	pair, err := tls.X509KeyPair(a.issue("shop", ends))
	require.NoError(a.t, err)
	return pair
}

var later = time.Now().Add(time.Hour)

// lab is a listener with files that a test changes.
type lab struct {
	*testing.T
	files certs.Files
	addr  string
	log   *notes
}

// notes is a log for concurrent use.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// replace replaces a file atomically, as renewals do.
func (l *lab) replace(name string, text []byte) {
	require.NoError(l, os.WriteFile(name+".new", text, 0o600))
	require.NoError(l, os.Rename(name+".new", name))
}

func newLab(t *testing.T, a authority) *lab {
	dir := t.TempDir()
	l := &lab{T: t, log: &notes{}, files: certs.Files{
		Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt"),
	}}
	certificate, key := a.issue("first", later)
	l.replace(l.files.Certificate, certificate)
	l.replace(l.files.Key, key)
	l.replace(l.files.ClientCA, a.pem())
	server, err := certs.New(l.files, slog.New(slog.NewTextHandler(l.log, nil)))
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server.Config())
	require.NoError(t, err)
	l.addr = listener.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("x")) // completes the handshake
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return l
}

// connect makes a handshake, and returns its state.
func (l *lab) connect(config *tls.Config) (state tls.ConnectionState, err error) {
	conn, err := tls.Dial("tcp", l.addr, config)
	if err != nil {
		return state, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // a server of TLS 1.3 refuses afterwards
		return state, err
	}
	return conn.ConnectionState(), nil
}

func (l *lab) server(a authority) string {
	state, err := l.connect(&tls.Config{RootCAs: a.pool()})
	require.NoError(l, err)
	return state.PeerCertificates[0].Subject.CommonName
}

// The next connection has a renewed certificate. Invalid files are logged once, and the former
// ones stay in use.
func TestFilesAreReadAnew(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	l := newLab(t, a)
	require.Equal(t, "first", l.server(a))
	certificate, key := a.issue("second", later)
	l.replace(l.files.Certificate, certificate)
	for range 3 {
		require.Equal(t, "first", l.server(a), "its key is not there yet")
	}
	require.Equal(t, 1, strings.Count(l.log.String(), "level=WARN"), l.log)
	l.replace(l.files.Key, key)
	require.Equal(t, "second", l.server(a))
	require.NoError(t, os.Remove(l.files.Key))
	require.Equal(t, "second", l.server(a))
	require.Equal(t, 2, strings.Count(l.log.String(), "level=WARN"), l.log)
	require.NotContains(t, l.log.String(), "PRIVATE KEY")
}

// A certificate that clients refuse for its time is used, and the log says so, at the start and later.
func TestACertificateOutOfItsTime(t *testing.T) {
	t.Parallel()
	const line = "it is not valid now"
	a := newAuthority(t)
	l := newLab(t, a)
	require.NotContains(t, l.log.String(), line, "the control")
	certificate, key := a.issue("old", time.Now().Add(-time.Minute))
	l.replace(l.files.Certificate, certificate)
	l.replace(l.files.Key, key)
	for range 2 {
		_, err := l.connect(&tls.Config{RootCAs: a.pool()})
		require.ErrorContains(t, err, "expired")
	}
	require.Equal(t, 1, strings.Count(l.log.String(), line), l.log)
	_, err := certs.New(l.files, slog.New(slog.NewTextHandler(l.log, nil)))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(l.log.String(), line), l.log)
}

// Links are followed: a mount of secrets changes their targets.
func TestFilesBehindLinks(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	l := newLab(t, a)
	dir := t.TempDir()
	certificate, key := a.issue("second", later)
	l.replace(filepath.Join(dir, "crt"), certificate)
	l.replace(filepath.Join(dir, "key"), key)
	for name, target := range map[string]string{l.files.Certificate: "crt", l.files.Key: "key"} {
		require.NoError(t, os.Remove(name))
		require.NoError(t, os.Symlink(filepath.Join(dir, target), name))
	}
	require.Equal(t, "second", l.server(a))
}

// Only certificates of the authorities are accepted, and only until they expire. None is
// required.
func TestCertificatesOfClients(t *testing.T) {
	t.Parallel()
	a, stranger := newAuthority(t), newAuthority(t)
	l := newLab(t, a)
	for name, c := range map[string]struct {
		shown []tls.Certificate
		good  bool
	}{
		"none":                 {nil, true},
		"of the authority":     {[]tls.Certificate{a.client(later)}, true},
		"of another authority": {[]tls.Certificate{stranger.client(later)}, false},
		"that has ended":       {[]tls.Certificate{a.client(time.Now().Add(-time.Minute))}, false},
	} {
		_, err := l.connect(&tls.Config{RootCAs: a.pool(), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(c.shown) == 0 {
				return &tls.Certificate{}, nil
			}
			return &c.shown[0], nil
		}})
		require.Equal(t, c.good, err == nil, "%s: %v", name, err)
	}
	_, err := l.connect(&tls.Config{RootCAs: a.pool(), MaxVersion: tls.VersionTLS11})
	require.Error(t, err, "old versions are refused")
}

// A session does not outlive the authority of its client.
func TestASessionDoesNotOutliveItsAuthority(t *testing.T) {
	t.Parallel()
	a, next := newAuthority(t), newAuthority(t)
	l := newLab(t, a)
	client := a.client(later)
	config := &tls.Config{RootCAs: a.pool(), ClientSessionCache: tls.NewLRUClientSessionCache(1), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &client, nil
	}}
	_, err := l.connect(config)
	require.NoError(t, err)
	state, err := l.connect(config)
	require.NoError(t, err)
	require.True(t, state.DidResume, "the control: sessions are resumed")
	l.replace(l.files.ClientCA, next.pem())
	_, err = l.connect(config)
	require.Error(t, err)
	client = next.client(later)
	state, err = l.connect(config)
	require.NoError(t, err)
	require.False(t, state.DidResume)
}

func TestFilesThatAreNotInOrder(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	l := newLab(t, a)
	cut := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		half := filepath.Join(t.TempDir(), "half")
		l.replace(half, append(text, a.pem()[:100]...))
		return half
	}
	for _, files := range []certs.Files{
		{Certificate: cut(l.files.Certificate), Key: l.files.Key},
		{Certificate: l.files.Certificate, Key: l.files.Key, ClientCA: cut(l.files.ClientCA)},
		{Certificate: l.files.Key, Key: l.files.Key},
		{Certificate: l.files.Certificate, Key: l.files.Certificate},
		{Certificate: "nowhere", Key: l.files.Key},
		{Certificate: l.files.Certificate, Key: l.files.Key, ClientCA: l.files.Key},
		{Certificate: l.files.Certificate, Key: l.files.Key, ClientCA: "nowhere"},
	} {
		_, err := certs.New(files, slog.New(slog.DiscardHandler))
		require.Error(t, err, files)
	}
}

package httpsend

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"

	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/golang-lru/v2"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
)

// transport sends with one TLS configuration, on separate connections.
type transport struct {
	client *resty.Client
	// fresh opens a connection for each request, and reuses none.
	fresh     *resty.Client
	transport *http.Transport
}

func newTransport(base *http.Transport, userAgent string) *transport {
	fresh := base.Clone()
	fresh.DisableKeepAlives = true
	return &transport{client: clientOn(base, userAgent), fresh: clientOn(fresh, userAgent), transport: base}
}

// transports holds a transport for each TLS configuration. Connections are shared only under
// the same certificate and the same trusted issuers.
type transports struct {
	common    *transport
	userAgent string

	mu    sync.Mutex // two callers must not make one twice
	made  *lru.Cache[[sha256.Size]byte, *transport]
	roots *x509.CertPool
}

func newTransports(base *http.Transport, userAgent string) *transports {
	// The connections of a dropped transport close as they fall idle, or now.
	made, _ := lru.NewWithEvict(tuning.TLSConfigs, func(_ [sha256.Size]byte, l *transport) { l.transport.CloseIdleConnections() })
	return &transports{common: newTransport(base, userAgent), userAgent: userAgent, made: made, roots: base.TLSClientConfig.RootCAs}
}

// transportFor returns the transport of a policy's TLS, nil for none.
func (l *transports) transportFor(settings *policy.TLS) (*transport, error) {
	if settings == nil {
		return l.common, nil
	}
	key := digest(*settings)
	l.mu.Lock()
	defer l.mu.Unlock()
	if made, ok := l.made.Get(key); ok {
		return made, nil
	}
	config, err := l.config(*settings)
	if err != nil {
		return nil, err
	}
	base := l.common.transport.Clone()
	base.TLSClientConfig = config
	made := newTransport(base, l.userAgent)
	l.made.Add(key, made)
	return made, nil
}

// close closes the connections that are idle.
func (l *transports) close() {
	l.common.transport.CloseIdleConnections()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made.Purge()
}

// digest identifies a configuration, and keeps its key out of the map.
func digest(t policy.TLS) [sha256.Size]byte {
	return sha256.Sum256([]byte(t.CA + "\x00" + t.ClientCertificate + "\x00" + t.ClientKey))
}

func (l *transports) config(t policy.TLS) (*tls.Config, error) {
	config := l.common.transport.TLSClientConfig.Clone()
	if t.CA != "" {
		roots, err := Roots(l.roots, []byte(t.CA))
		if err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	if t.ClientCertificate != "" {
		certificate, err := tls.X509KeyPair([]byte(t.ClientCertificate), []byte(t.ClientKey))
		if err != nil {
			return nil, err
		}
		config.GetClientCertificate = showing(&certificate)
	}
	return config, nil
}

// Roots adds a bundle in PEM to roots; nil means those of the system.
func Roots(roots *x509.CertPool, bundle []byte) (*x509.CertPool, error) {
	more, err := policy.Certificates(bundle)
	if err != nil {
		return nil, err
	}
	if roots == nil {
		if roots, err = x509.SystemCertPool(); err != nil {
			return nil, err
		}
	} else {
		roots = roots.Clone()
	}
	for _, certificate := range more {
		roots.AddCert(certificate)
	}
	return roots, nil
}

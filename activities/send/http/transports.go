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

// link sends with one TLS configuration, on connections of its own.
type link struct {
	client *resty.Client
	// fresh opens a connection for each request, and keeps none.
	fresh     *resty.Client
	transport *http.Transport
}

func newLink(transport *http.Transport, userAgent string) *link {
	fresh := transport.Clone()
	fresh.DisableKeepAlives = true
	return &link{client: clientOn(transport, userAgent), fresh: clientOn(fresh, userAgent), transport: transport}
}

// links holds a link for each TLS configuration: connections are shared by those
// alone who show the same certificate and trust the same issuers.
type links struct {
	common    *link
	userAgent string

	mu    sync.Mutex // two callers must not make one link twice
	kept  *lru.Cache[[sha256.Size]byte, *link]
	roots *x509.CertPool
}

func newLinks(transport *http.Transport, userAgent string) *links {
	// The connections of one that is dropped close as they fall idle, or now.
	kept, _ := lru.NewWithEvict(tuning.TLSConfigs, func(_ [sha256.Size]byte, l *link) { l.transport.CloseIdleConnections() })
	return &links{common: newLink(transport, userAgent), userAgent: userAgent, kept: kept, roots: transport.TLSClientConfig.RootCAs}
}

// of returns the link of a policy's TLS, nil for none.
func (l *links) of(settings *policy.TLS) (*link, error) {
	if settings == nil {
		return l.common, nil
	}
	key := digest(*settings)
	l.mu.Lock()
	defer l.mu.Unlock()
	if made, ok := l.kept.Get(key); ok {
		return made, nil
	}
	config, err := l.config(*settings)
	if err != nil {
		return nil, err
	}
	transport := l.common.transport.Clone()
	transport.TLSClientConfig = config
	made := newLink(transport, l.userAgent)
	l.kept.Add(key, made)
	return made, nil
}

// close closes the connections that nobody uses.
func (l *links) close() {
	l.common.transport.CloseIdleConnections()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept.Purge()
}

// digest tells configurations apart, and keeps no key in a map.
func digest(t policy.TLS) [sha256.Size]byte {
	return sha256.Sum256([]byte(t.CA + "\x00" + t.ClientCertificate + "\x00" + t.ClientKey))
}

func (l *links) config(t policy.TLS) (*tls.Config, error) {
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

// Roots adds a bundle in PEM to roots, nil for those of the system.
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

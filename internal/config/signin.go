package config

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/wakecall/wakecall/internal/certs"
)

// AsksWho reports whether the API authenticates callers: a method is configured.
func (c Config) AsksWho() bool {
	return len(c.APIKeys) > 0 || c.OIDCIssuer != "" || c.TLSClientCA != ""
}

// Scheme returns the scheme of the API's URLs.
func (c Config) Scheme() string {
	if c.TLSCert != "" {
		return "https"
	}
	return "http"
}

// TLS returns the files of the API's own TLS; none if it has none.
func (c Config) TLS() certs.Files {
	return certs.Files{Certificate: c.TLSCert, Key: c.TLSKey, ClientCA: c.TLSClientCA}
}

// checkOIDC adds what is wrong with the identity provider. The start does not require that it
// answers, because API keys work without it.
func (c Config) checkOIDC(f *Faults) {
	if spaced(c.OIDCAudience) {
		f.Add("WAKECALL_OIDC_AUDIENCE", "must have no white space")
	}
	if spaced(c.OIDCGroups) || strings.HasPrefix(c.OIDCGroups, ".") || strings.HasSuffix(c.OIDCGroups, ".") || c.OIDCGroups == "" {
		f.Add("WAKECALL_OIDC_GROUPS_CLAIM", "must be the name of a claim, such as groups or realm_access.roles")
	}
	if spaced(c.OIDCClientID) {
		f.Add("WAKECALL_OIDC_CLIENT_ID", "must have no white space")
	}
	switch {
	case spaced(c.OIDCClientSecret):
		f.Add("WAKECALL_OIDC_CLIENT_SECRET", "must have no white space")
	case c.OIDCClientSecret != "" && c.OIDCClientID == "":
		f.Add("WAKECALL_OIDC_CLIENT_SECRET", "needs WAKECALL_OIDC_CLIENT_ID")
	}
	if c.OIDCIssuer == "" {
		for name, set := range map[string]bool{"WAKECALL_OIDC_AUDIENCE": c.OIDCAudience != "",
			"WAKECALL_OIDC_ROLES": len(c.OIDCRoles) > 0, "WAKECALL_OIDC_CLIENT_ID": c.OIDCClientID != ""} {
			if set {
				f.Add(name, "needs WAKECALL_OIDC_ISSUER")
			}
		}
		return
	}
	switch {
	case !isIssuer(c.OIDCIssuer):
		f.Add("WAKECALL_OIDC_ISSUER", "must be https://…, without a query; http:// is for loopback only")
	case c.OIDCAudience == "":
		f.Add("WAKECALL_OIDC_ISSUER", "needs WAKECALL_OIDC_AUDIENCE: without it tokens for other services would be accepted")
	case len(c.OIDCRoles) == 0 && !f.Has("WAKECALL_OIDC_ROLES"):
		f.Add("WAKECALL_OIDC_ISSUER", "needs WAKECALL_OIDC_ROLES: without it no token has a role")
	}
}

func spaced(text string) bool { return strings.ContainsFunc(text, unicode.IsSpace) }

// isIssuer reports whether the keys of an issuer cannot be changed in transit.
func isIssuer(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	loopback, err := Loopback(net.JoinHostPort(u.Hostname(), "0"))
	return u.Scheme == "https" || u.Scheme == "http" && err == nil && loopback
}

// checkTLS adds what is wrong with the files of TLS.
func (c Config) checkTLS(f *Faults) {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		f.Add("WAKECALL_TLS_CERT_FILE", "needs WAKECALL_TLS_KEY_FILE")
	case c.TLSCert == "" && c.TLSKey != "":
		f.Add("WAKECALL_TLS_KEY_FILE", "needs WAKECALL_TLS_CERT_FILE")
	case c.TLSCert != "":
		if err := checkKey(c.TLSKey); err != nil {
			f.Add("WAKECALL_TLS_KEY_FILE", "%w", err)
		}
		if _, err := certs.Pair(c.TLSCert, c.TLSKey); err != nil && (!f.Has("WAKECALL_TLS_KEY_FILE") || !holdsCertificate(c.TLSCert)) {
			f.Add("WAKECALL_TLS_CERT_FILE", "%w", err)
		}
	}
	if err := checkBundle(c.TLSClientCA); err != nil {
		f.Add("WAKECALL_TLS_CLIENT_CA_FILE", "%w", err)
	}
	switch {
	case c.TLSClientCA != "" && c.TLSCert == "":
		f.Add("WAKECALL_TLS_CLIENT_CA_FILE", "needs WAKECALL_TLS_CERT_FILE")
	case c.TLSClientCA != "" && len(c.TLSRoles) == 0 && !f.Has("WAKECALL_TLS_ROLES"):
		f.Add("WAKECALL_TLS_CLIENT_CA_FILE", "needs WAKECALL_TLS_ROLES: without it no certificate has a role")
	case c.TLSClientCA == "" && len(c.TLSRoles) > 0:
		f.Add("WAKECALL_TLS_ROLES", "needs WAKECALL_TLS_CLIENT_CA_FILE")
	}
}

// holdsCertificate reports whether a file has a certificate, beside whatever else.
func holdsCertificate(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(text)
}

// checkKey returns why a file has no private key.
func checkKey(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil
		}
	}
	return fmt.Errorf("%s has no private key in PEM", file)
}

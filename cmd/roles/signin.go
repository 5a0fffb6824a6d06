package roles

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/certs"
	"github.com/wakecall/wakecall/internal/oidc"
)

// signIn authenticates the callers of the API.
type signIn struct {
	*auth.Authenticator
	provider *oidc.Provider // nil without one
	certs    *certs.Server  // nil without TLS
}

// openSignIn reads the files of TLS. It does not contact the provider.
func (a *App) openSignIn() (s signIn, err error) {
	if !a.Config.AsksWho() { // the API then listens on loopback only
		s.Authenticator = auth.Anyone()
	} else {
		s.Authenticator = auth.New(a.Config.APIKeys).WithSubjects(a.Config.TLSRoles)
	}
	if a.Config.OIDCIssuer != "" {
		s.provider, err = oidc.New(oidc.Options{
			Issuer: a.Config.OIDCIssuer, Audience: a.Config.OIDCAudience, Groups: a.Config.OIDCGroups, Roles: a.Config.OIDCRoles, Logger: a.Logger,
		})
		if err != nil {
			return s, err
		}
		s.WithTokens(s.provider)
	}
	if files := a.Config.TLS(); files.Certificate != "" {
		if s.certs, err = certs.New(files, a.Logger); err != nil {
			return s, fmt.Errorf("WAKECALL_TLS_CERT_FILE: %w", err)
		}
	}
	return s, nil
}

// browser signs the users of the provider in at the console; nil where it is no client of one.
func (s signIn) browser(client oidc.Client) *oidc.Browser {
	if s.provider == nil || client.ID == "" {
		return nil
	}
	return s.provider.Browser(client)
}

// tls returns the TLS of the API's listener; nil for none.
func (s signIn) tls() *tls.Config {
	if s.certs == nil {
		return nil
	}
	return s.certs.Config()
}

// fault returns a line about a fault, for /readyz.
func (s signIn) fault() string {
	if s.provider == nil {
		return ""
	}
	return s.provider.Outage()
}

// refreshKeys keeps the keys of the provider fresh until ctx is done.
func (s signIn) refreshKeys(ctx context.Context, among *sync.WaitGroup) {
	if s.provider != nil {
		among.Go(func() { s.provider.RefreshKeys(ctx) })
	}
}

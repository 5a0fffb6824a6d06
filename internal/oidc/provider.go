package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Options are the dependencies of a [Provider].
type Options struct {
	// Issuer and Audience are required in tokens.
	Issuer, Audience string
	// Groups is the claim with the groups. Roles maps them to roles.
	Groups string
	Roles  auth.Mappings
	Logger *slog.Logger
	// Now may be nil, for the present time.
	Now func() time.Time
}

// Provider is an identity provider. It implements [auth.Tokens].
type Provider struct {
	options  Options
	client   *http.Client
	keys     *keys
	verifier *oidc.IDTokenVerifier
	verified *lru.Cache[[sha256.Size]byte, *auth.Principal]
	// withdrawals counts the withdrawals of valid keys.
	withdrawals atomic.Int64
	down        atomic.Bool
}

// New returns a provider that has not been asked yet.
func New(options Options) (*Provider, error) {
	verified, err := lru.New[[sha256.Size]byte, *auth.Principal](tuning.VerifiedTokens)
	if err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	client := newClient()
	p := &Provider{options: options, client: client, verified: verified}
	p.keys = &keys{
		now: options.Now, changed: p.recordAnswer,
		fetch: func(ctx context.Context) (published, error) {
			ctx, cancel := context.WithTimeout(ctx, 2*tuning.ProviderTimeout) // there are two questions
			defer cancel()
			return fetch(ctx, client, options.Issuer)
		},
	}
	p.verifier = p.verifierFor(options.Audience)
	return p, nil
}

// verifierFor verifies tokens that name an audience.
func (p *Provider) verifierFor(audience string) *oidc.IDTokenVerifier {
	var names []string
	for _, algorithm := range algorithms {
		names = append(names, string(algorithm))
	}
	return oidc.NewVerifier(p.options.Issuer, p.keys, &oidc.Config{ClientID: audience, SupportedSigningAlgs: names, Now: p.options.Now})
}

// Bearer implements [auth.Tokens].
func (p *Provider) Bearer(ctx context.Context, token string, digest [sha256.Size]byte) (*auth.Principal, error) {
	if known, ok := p.verified.Get(digest); ok {
		if p.options.Now().Before(known.Ends) {
			return known, nil
		}
		p.verified.Remove(digest)
		return nil, auth.ErrExpired
	}
	if !looksSigned(token) { // for example, a wrong API key
		return nil, errNoToken
	}
	before := p.withdrawals.Load()
	verified, err := p.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	p.verified.Add(digest, verified)
	if p.withdrawals.Load() != before { // its key may be withdrawn
		p.verified.Remove(digest)
	}
	return verified, nil
}

// looksSigned reports whether a token has the form of a signed JWT: three parts, the first an
// object in base64.
func looksSigned(token string) bool {
	return strings.HasPrefix(token, "ey") && strings.Count(token, ".") == 2
}

func (p *Provider) verify(ctx context.Context, text string) (*auth.Principal, error) {
	var unanswered error
	token, err := p.verifier.Verify(context.WithValue(ctx, unansweredKey{}, &unanswered), text)
	if err != nil {
		return nil, refusal(err, unanswered)
	}
	var said claims
	if err := token.Claims(&said); err != nil {
		return nil, fmt.Errorf("%w: its claims cannot be read", errInvalid)
	}
	principal, err := said.principal(p.options.Groups, p.options.Roles)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	principal.Ends = token.Expiry
	return principal, nil
}

// errInvalid and errNoToken are for the log. The answer does not say what is wrong with a token.
var (
	errInvalid = fmt.Errorf("%w: the token is not valid", auth.ErrUnknown)
	errNoToken = fmt.Errorf("%w: it sent neither a known API key nor a signed token", auth.ErrUnknown)
)

// unansweredKey is the context key by which [keys] return the cause of a failed request, because
// go-oidc passes on only the text of an error.
type unansweredKey struct{}

func refusal(err, unanswered error) error {
	if unanswered != nil {
		return unanswered
	}
	if _, expired := errors.AsType[*oidc.TokenExpiredError](err); expired {
		return auth.ErrExpired
	}
	return fmt.Errorf("%w: %w", errInvalid, err)
}

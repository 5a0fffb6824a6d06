package oidc

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// algorithms are the accepted signatures of tokens. All are asymmetric: a key that verifies a
// token cannot make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

var (
	errNoEndpoint = fmt.Errorf("%w: it names no authorization endpoint with https", auth.ErrNoProvider)
	errSignature  = errors.New("no key of the provider has signed the token")
)

// keys are the keys of the issuer. It implements go-oidc's KeySet.
type keys struct {
	fetch func(context.Context) (published, error)
	// changed is called after each request. withdrawn reports whether a valid key is gone.
	changed func(withdrawn bool, err error)
	now     func() time.Time
	asking  singleflight.Group

	mu sync.RWMutex
	// answer is the latest one, and fetched its time. asked is when the last request ended.
	answer         published
	fetched, asked time.Time
	failed         error
}

// VerifySignature implements go-oidc's KeySet. If no known key has signed the token, it looks
// for a new key.
func (k *keys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	if payload, ok := k.verify(signed); ok {
		return payload, nil
	}
	if err := k.refresh(ctx); err != nil {
		if unanswered, ok := ctx.Value(unansweredKey{}).(*error); ok {
			*unanswered = fmt.Errorf("%w: %w", auth.ErrNoProvider, err)
		}
		return nil, err
	}
	if payload, ok := k.verify(signed); ok {
		return payload, nil
	}
	return nil, errSignature
}

func (k *keys) verify(signed *jose.JSONWebSignature) (payload []byte, ok bool) {
	header := signed.Signatures[0].Header
	for _, key := range k.trusted() {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := signed.Verify(&key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// trusted returns the keys, unless they are old or the issuer does not answer.
func (k *keys) trusted() []jose.JSONWebKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.failed != nil || k.now().Sub(k.fetched) >= tuning.KeysTrusted {
		return nil
	}
	return k.answer.keys
}

// signsIn returns what the issuer publishes, which names where it signs users in. It asks the issuer
// if that is not known.
func (k *keys) signsIn(ctx context.Context) (published, error) {
	if len(k.trusted()) == 0 {
		if err := k.refresh(ctx); err != nil {
			return published{}, fmt.Errorf("%w: %w", auth.ErrNoProvider, err)
		}
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.answer.endpoint.AuthURL == "" {
		return published{}, errNoEndpoint
	}
	return k.answer, nil
}

// refresh asks the issuer, unless it was asked just now. Concurrent callers share the answer. A
// caller that leaves ends only its own wait.
func (k *keys) refresh(ctx context.Context) error {
	if failed, recent := k.recent(); recent {
		return failed
	}
	answer := k.asking.DoChan("", func() (any, error) { return nil, k.refreshOnce(context.WithoutCancel(ctx)) })
	select {
	case result := <-answer:
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keys) recent() (failed error, recent bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.failed, !k.asked.IsZero() && k.now().Sub(k.asked) < tuning.KeysRetry
}

func (k *keys) refreshOnce(ctx context.Context) error {
	if failed, recent := k.recent(); recent { // another request has just ended
		return failed
	}
	fetched, err := k.fetch(ctx)
	k.changed(k.store(fetched, err), err)
	return err
}

func (k *keys) store(fetched published, err error) (withdrawn bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked, k.failed = k.now(), err
	if err != nil {
		return false
	}
	withdrawn = lacks(fetched.keys, k.answer.keys)
	k.answer, k.fetched = fetched, k.asked
	return withdrawn
}

// lacks reports whether a key of before is missing now.
func lacks(now, before []jose.JSONWebKey) bool {
	known := map[string]bool{}
	for _, key := range now {
		known[thumbprint(key)] = true
	}
	for _, key := range before {
		if !known[thumbprint(key)] {
			return true
		}
	}
	return false
}

func thumbprint(key jose.JSONWebKey) string {
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return ""
	}
	return string(sum)
}

package policies

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

// secrets seals secrets before they reach Temporal, and opens them again.
type secrets struct{ box *seal.Box }

// sealCallback returns the callback with its header values sealed.
func (s secrets) sealCallback(callback *delivery.Callback) (*delivery.Callback, error) {
	if callback == nil {
		return nil, nil
	}
	sealed := *callback
	headers, err := mapHeaders(callback.Headers, s.box.Seal)
	sealed.Headers = headers
	return &sealed, sealing("/callback/headers", err)
}

// openCallback returns the callback with its header values opened.
func (s secrets) openCallback(callback delivery.Callback) (*delivery.Callback, error) {
	opened, err := callback, error(nil)
	opened.Headers, err = mapHeaders(callback.Headers, s.box.Open)
	return &opened, err
}

// SealCallback returns a callback with its header values sealed; nil for nil. The error is
// [wire.InvalidRequest] without a key to seal with.
func (r *Reader) SealCallback(callback *delivery.Callback) (*delivery.Callback, error) {
	return r.secrets.sealCallback(callback)
}

// OpenCallback returns a callback with its header values opened. It fails if no key opens them.
func (r *Reader) OpenCallback(callback delivery.Callback) (*delivery.Callback, error) {
	return r.secrets.openCallback(callback)
}

// seal returns the policy with all its secrets sealed.
func (s secrets) seal(p policy.Policy) (policy.Policy, error) {
	callback, err := s.sealCallback(&p.Callback)
	if err != nil {
		return policy.Policy{}, err
	}
	p.Callback = *callback
	if p.Fallback, err = s.sealFallback(p.Fallback); err != nil {
		return policy.Policy{}, err
	}
	if p.TLS, err = mapKey(p.TLS, s.box.Seal); err != nil {
		return policy.Policy{}, sealing(policy.ClientKeyPointer, err)
	}
	p.SigningSecrets, err = mapValues(p.SigningSecrets, s.box.Seal)
	if err != nil {
		return p, sealing(policy.SecretsPointer, err)
	}
	p.RetiredSecrets = slices.Clone(p.RetiredSecrets)
	for i, retired := range p.RetiredSecrets {
		if p.RetiredSecrets[i].Secret, err = s.box.Seal(retired.Secret); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (s secrets) sealFallback(fallback *delivery.Fallback) (*delivery.Fallback, error) {
	if fallback == nil {
		return nil, nil
	}
	sealed := *fallback
	headers, err := mapHeaders(fallback.Headers, s.box.Seal)
	sealed.Headers = headers
	return &sealed, sealing("/fallback/headers", err)
}

func mapKey(t *policy.TLS, f func(string) (string, error)) (_ *policy.TLS, err error) {
	if t == nil || t.ClientKey == "" {
		return t, nil
	}
	mapped := *t
	mapped.ClientKey, err = f(t.ClientKey)
	return &mapped, err
}

// open is the inverse of seal, as far as the configured keys allow. A retired secret that
// none of them opens no longer signs.
func (s secrets) open(p policy.Policy) policy.Policy {
	p.Unopened = nil
	p.Callback.Headers = s.openHeaders(&p, p.Callback.Headers, delivery.HeaderPointer)
	if p.Fallback != nil {
		second := *p.Fallback
		second.Headers = s.openHeaders(&p, second.Headers, delivery.FallbackHeaderPointer)
		p.Fallback = &second
	}
	if secrets, err := mapValues(p.SigningSecrets, s.box.Open); err == nil {
		p.SigningSecrets = secrets
	} else {
		p.Unopened = append(p.Unopened, policy.SecretsPointer)
	}
	if settings, err := mapKey(p.TLS, s.box.Open); err == nil {
		p.TLS = settings
	} else {
		p.Unopened = append(p.Unopened, policy.ClientKeyPointer)
	}
	retired := p.RetiredSecrets
	p.RetiredSecrets = nil
	for _, r := range retired {
		if secret, err := s.box.Open(r.Secret); err == nil {
			p.RetiredSecrets = append(p.RetiredSecrets, policy.RetiredSecret{Secret: secret, Until: r.Until})
		}
	}
	return p
}

// openHeaders opens header values. Those that no key opens stay sealed, and are recorded.
func (s secrets) openHeaders(policy *policy.Policy, sealed map[string]string, pointer func(name string) string) map[string]string {
	opened := maps.Clone(sealed)
	for _, name := range slices.Sorted(maps.Keys(sealed)) {
		value, err := s.box.Open(sealed[name])
		if err != nil {
			policy.Unopened = append(policy.Unopened, pointer(name))
			continue
		}
		opened[name] = value
	}
	return opened
}

// unopened is why a policy cannot be used.
func unopened(policy policy.Policy) error {
	return &wire.Error{Code: wire.Internal, Message: "No configured secret key opens " + strings.Join(policy.Unopened, " and ") +
		" of the policy of " + policy.BusinessType + ". Set these values again, or configure the key."}
}

func mapHeaders(headers map[string]string, f func(string) (string, error)) (map[string]string, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(headers))
	mapped := make(map[string]string, len(headers))
	for _, name := range names {
		value, err := f(headers[name])
		if err != nil {
			return nil, err
		}
		mapped[name] = value
	}
	return mapped, nil
}

func mapValues(values []string, f func(string) (string, error)) ([]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	mapped := make([]string, 0, len(values))
	for _, value := range values {
		value, err := f(value)
		if err != nil {
			return nil, err
		}
		mapped = append(mapped, value)
	}
	return mapped, nil
}

// sealing is the error of a Wakecall without a key for secrets.
func sealing(pointer string, err error) error {
	if !errors.Is(err, seal.ErrNoKey) {
		return err
	}
	errs := wire.FieldErrors{{Pointer: pointer, Code: wire.CodeInvalidSecret,
		Detail: "cannot be stored: Wakecall runs without WAKECALL_SECRET_KEY"}}
	return errs.Err()
}

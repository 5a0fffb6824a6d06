package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/timer"
)

// secrets seals what is secret before it reaches Temporal, and opens it again.
type secrets struct{ box *seal.Box }

// sealCallback returns the callback with its header values sealed.
func (s secrets) sealCallback(callback *timer.Callback) (*timer.Callback, error) {
	if callback == nil {
		return nil, nil
	}
	sealed := *callback
	headers, err := mapHeaders(callback.Headers, s.box.Seal)
	sealed.Headers = headers
	return &sealed, sealing("/callback/headers", err)
}

// seal returns the policy with everything secret sealed.
func (s secrets) seal(policy timer.Policy) (timer.Policy, error) {
	callback, err := s.sealCallback(&policy.Callback)
	if err != nil {
		return timer.Policy{}, err
	}
	policy.Callback = *callback
	if policy.Fallback, err = s.sealFallback(policy.Fallback); err != nil {
		return timer.Policy{}, err
	}
	if policy.TLS, err = mapKey(policy.TLS, s.box.Seal); err != nil {
		return timer.Policy{}, sealing(timer.ClientKeyPointer, err)
	}
	policy.SigningSecrets, err = mapValues(policy.SigningSecrets, s.box.Seal)
	if err != nil {
		return policy, sealing(timer.SecretsPointer, err)
	}
	policy.RetiredSecrets = slices.Clone(policy.RetiredSecrets)
	for i, retired := range policy.RetiredSecrets {
		if policy.RetiredSecrets[i].Secret, err = s.box.Seal(retired.Secret); err != nil {
			return policy, err
		}
	}
	return policy, nil
}

func (s secrets) sealFallback(fallback *timer.Fallback) (*timer.Fallback, error) {
	if fallback == nil {
		return nil, nil
	}
	sealed := *fallback
	headers, err := mapHeaders(fallback.Headers, s.box.Seal)
	sealed.Headers = headers
	return &sealed, sealing("/fallback/headers", err)
}

func mapKey(t *timer.TLS, f func(string) (string, error)) (_ *timer.TLS, err error) {
	if t == nil || t.ClientKey == "" {
		return t, nil
	}
	mapped := *t
	mapped.ClientKey, err = f(t.ClientKey)
	return &mapped, err
}

// open is the inverse of seal, as far as the configured keys go. A
// retired secret that none of them opens signs nothing any more.
func (s secrets) open(policy timer.Policy) timer.Policy {
	policy.Unopened = nil
	policy.Callback.Headers = s.openHeaders(&policy, policy.Callback.Headers, timer.HeaderPointer)
	if policy.Fallback != nil {
		second := *policy.Fallback
		second.Headers = s.openHeaders(&policy, second.Headers, timer.FallbackHeaderPointer)
		policy.Fallback = &second
	}
	if secrets, err := mapValues(policy.SigningSecrets, s.box.Open); err == nil {
		policy.SigningSecrets = secrets
	} else {
		policy.Unopened = append(policy.Unopened, timer.SecretsPointer)
	}
	if settings, err := mapKey(policy.TLS, s.box.Open); err == nil {
		policy.TLS = settings
	} else {
		policy.Unopened = append(policy.Unopened, timer.ClientKeyPointer)
	}
	retired := policy.RetiredSecrets
	policy.RetiredSecrets = nil
	for _, r := range retired {
		if secret, err := s.box.Open(r.Secret); err == nil {
			policy.RetiredSecrets = append(policy.RetiredSecrets, timer.RetiredSecret{Secret: secret, Until: r.Until})
		}
	}
	return policy
}

// openHeaders opens header values. Those that no key opens stay sealed, and are noted.
func (s secrets) openHeaders(policy *timer.Policy, sealed map[string]string, pointer func(name string) string) map[string]string {
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
func unopened(policy timer.Policy) error {
	return &timer.Error{Code: timer.Internal, Message: "No configured secret key opens " + strings.Join(policy.Unopened, " and ") +
		" of the policy of " + policy.BusinessType + ". Put these values anew, or configure the key."}
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

// sealing tells a caller that this Wakecall cannot keep secrets.
func sealing(pointer string, err error) error {
	if !errors.Is(err, seal.ErrNoKey) {
		return err
	}
	errs := timer.FieldErrors{{Pointer: pointer, Code: timer.CodeInvalidSecret,
		Detail: "cannot be stored: Wakecall runs without WAKECALL_SECRET_KEY"}}
	return errs.Err()
}

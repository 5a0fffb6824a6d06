package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/timer"
)

// sealCallback returns the callback with its header values sealed.
func (e *Engine) sealCallback(callback *timer.Callback) (*timer.Callback, error) {
	if callback == nil {
		return nil, nil
	}
	sealed := *callback
	headers, err := e.mapHeaders(callback.Headers, e.Box.Seal)
	sealed.Headers = headers
	return &sealed, sealing("/callback/headers", err)
}

// sealPolicy returns the policy with everything secret sealed.
func (e *Engine) sealPolicy(policy timer.Policy) (timer.Policy, error) {
	callback, err := e.sealCallback(&policy.Callback)
	if err != nil {
		return timer.Policy{}, err
	}
	policy.Callback = *callback
	if policy.TLS, err = mapKey(policy.TLS, e.Box.Seal); err != nil {
		return timer.Policy{}, sealing("/tls/client_key", err)
	}
	policy, err = mapSecrets(policy, e.Box.Seal)
	return policy, sealing("/signing_secrets", err)
}

// openPolicy is the inverse of sealPolicy.
func (e *Engine) openPolicy(policy timer.Policy) (_ timer.Policy, err error) {
	if policy.Callback.Headers, err = e.mapHeaders(policy.Callback.Headers, e.Box.Open); err != nil {
		return timer.Policy{}, err
	}
	if policy.TLS, err = mapKey(policy.TLS, e.Box.Open); err != nil {
		return timer.Policy{}, err
	}
	return mapSecrets(policy, e.Box.Open)
}

func mapKey(t *timer.TLS, f func(string) (string, error)) (_ *timer.TLS, err error) {
	if t == nil || t.ClientKey == "" {
		return t, nil
	}
	mapped := *t
	mapped.ClientKey, err = f(t.ClientKey)
	return &mapped, err
}

func mapSecrets(policy timer.Policy, f func(string) (string, error)) (_ timer.Policy, err error) {
	if policy.SigningSecrets, err = mapValues(policy.SigningSecrets, f); err != nil {
		return policy, err
	}
	policy.RetiredSecrets = slices.Clone(policy.RetiredSecrets)
	for i, retired := range policy.RetiredSecrets {
		if policy.RetiredSecrets[i].Secret, err = f(retired.Secret); err != nil {
			return policy, err
		}
	}
	return policy, nil
}

func (e *Engine) mapHeaders(headers map[string]string, f func(string) (string, error)) (map[string]string, error) {
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
	faults := timer.Faults{{Pointer: pointer, Code: timer.CodeInvalidSecret,
		Detail: "cannot be stored: Wakecall runs without WAKECALL_SECRET_KEY"}}
	return faults.Err()
}

package timer

import (
	"encoding/base64"
	"strings"
)

// Policy says how the timers of one business type are called back. It is read
// when a delivery starts, not when a timer is booked.
type Policy struct {
	BusinessType string `json:"business_type"`
	// Version counts the changes of this policy, from 1.
	Version  int      `json:"version"`
	Callback Callback `json:"callback"`
	Retry    Retry    `json:"retry"`
	// ExpiresAfter, counted from the due time, is the default of timers that
	// name no latest time. Zero means they never expire.
	ExpiresAfter Duration `json:"expires_after,omitzero"`
	// SigningSecrets sign each attempt, newest first.
	SigningSecrets []string `json:"signing_secrets,omitempty"`
}

// WithDefaults fills what the policy leaves out.
func (p Policy) WithDefaults() Policy {
	if p.Callback.Timeout == 0 {
		p.Callback.Timeout = Duration(DefaultAttemptTimeout)
	}
	if p.Retry.Steps == nil && p.Retry.Initial == 0 {
		p.Retry = DefaultRetry()
	}
	p.Retry = p.Retry.WithDefaults()
	return p
}

// Check returns what is wrong with the policy, field by field. A Retry that is
// wholly left out is in order.
func (p Policy) Check() (faults Faults) {
	faults = CheckBusinessType(p.BusinessType)
	if p.Callback.URL == "" {
		faults.Add("/callback/url", CodeRequired, "is required")
	}
	faults.Under("/callback", p.Callback.Check())
	if !p.Retry.isZero() {
		faults.Under("/retry", p.Retry.Check())
	}
	if p.ExpiresAfter < 0 || p.ExpiresAfter.D() > MaxAhead {
		faults.Add("/expires_after", CodeOutOfRange, "must be from 0s to 87600h")
	}
	if len(p.SigningSecrets) > MaxSecrets {
		faults.Add("/signing_secrets", CodeTooLarge, "must have at most 3 secrets")
	}
	for i, secret := range p.SigningSecrets {
		if _, ok := DecodeSecret(secret); !ok {
			faults.Add("/signing_secrets/"+itoa(i), CodeInvalidSecret,
				"must be whsec_ and the base64 of 24 to 64 bytes")
		}
	}
	return faults
}

func (r Retry) isZero() bool {
	return r.Steps == nil && r.Initial == 0 && r.Multiplier == 0 && r.MaxInterval == 0 &&
		r.MaxAttempts == 0 && r.Jitter == 0
}

// SecretPrefix marks a symmetric key in Standard Webhooks 1.0.0.
const SecretPrefix = "whsec_"

// DecodeSecret is the key in a Standard Webhooks secret.
func DecodeSecret(secret string) (key []byte, ok bool) {
	encoded, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok {
		return nil, false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, err == nil && len(key) >= 24 && len(key) <= 64
}

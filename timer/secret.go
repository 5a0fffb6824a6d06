package timer

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RetiredSecret is a signing secret that was replaced. Receivers may still know
// no other, so attempts are signed with it as well until its time has come.
type RetiredSecret struct {
	Secret string  `json:"secret,omitzero"`
	Until  Instant `json:"until"`
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
	return key, err == nil && len(key) >= MinSecretBytes && len(key) <= MaxSecretBytes
}

// Secrets are those that sign an attempt made now: the current ones first, then
// the retired ones that are still within their overlap.
func (p Policy) Secrets(now time.Time) []string {
	secrets := slices.Clone(p.SigningSecrets)
	for _, retired := range p.RetiredSecrets {
		if retired.Until.Until(now) > 0 {
			secrets = append(secrets, retired.Secret)
		}
	}
	return secrets
}

// Succeed makes p the next version of old. Signing secrets that p does not list
// any more retire: they go on signing for the overlap. A policy that lists none
// signs nothing at once.
func (p Policy) Succeed(old Policy, now Instant) Policy {
	p.Version = old.Version + 1
	p.RetiredSecrets = nil
	if len(p.SigningSecrets) == 0 {
		return p
	}
	retired := slices.Clone(old.RetiredSecrets)
	if p.SecretOverlap != nil {
		until := now.Add(p.SecretOverlap.D())
		for _, secret := range old.SigningSecrets {
			retired = append(retired, RetiredSecret{Secret: secret, Until: until})
		}
	}
	for _, r := range retired {
		if r.Until > now && !slices.Contains(p.SigningSecrets, r.Secret) {
			p.RetiredSecrets = append(p.RetiredSecrets, r)
		}
	}
	return p
}

func (p Policy) checkSecrets() (faults Faults) {
	if len(p.SigningSecrets) > MaxSecrets {
		faults.AddMost("/signing_secrets", MaxSecrets, "secrets")
	}
	for i, secret := range p.SigningSecrets {
		if _, ok := DecodeSecret(secret); !ok {
			faults.Add("/signing_secrets/"+strconv.Itoa(i), CodeInvalidSecret,
				fmt.Sprintf("must be %s and the base64 of %d to %d bytes", SecretPrefix, MinSecretBytes, MaxSecretBytes))
		}
	}
	holdGiven(&faults, fieldSecretOverlap, p.SecretOverlap)
	return faults
}

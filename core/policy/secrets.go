package policy

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// RetiredSecret is a replaced signing secret. Receivers may know no other, so attempts are
// signed with it too until its overlap ends.
type RetiredSecret struct {
	Secret string       `json:"secret,omitzero"`
	Until  wire.Instant `json:"until"`
}

// SecretPrefix marks a symmetric key in Standard Webhooks 1.0.0.
const SecretPrefix = "whsec_"

// DecodeSecret returns the key in a Standard Webhooks secret. It accepts only one spelling of a
// key. Another, such as with a line end, would count as a new secret.
func DecodeSecret(secret string) (key []byte, ok bool) {
	encoded, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok {
		return nil, false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	canonical := err == nil && base64.StdEncoding.EncodeToString(key) == encoded
	return key, canonical && len(key) >= MinSecretBytes && len(key) <= MaxSecretBytes
}

// Secrets returns the secrets that sign an attempt made now, at most [MaxSigners]. The current
// ones come first, then the retired ones whose overlap has not ended, the latest first.
func (p Policy) Secrets(now time.Time) []string {
	secrets := slices.Clone(p.SigningSecrets)
	for _, retired := range slices.Backward(p.RetiredSecrets) {
		if retired.Until.Until(now) > 0 && len(secrets) < MaxSigners {
			secrets = append(secrets, retired.Secret)
		}
	}
	return secrets
}

// NextVersion makes p the next version of old. Signing secrets that p no longer lists retire and
// sign for the overlap. They end at once if the overlap is zero, or if p lists no secret, since
// nothing is signed then.
func (p Policy) NextVersion(old Policy, now wire.Instant) Policy {
	p.Version, p.SecretsChangedAt = old.Version+1, secretsChangedAt(old, p, now)
	p.StreamedUntil = 0
	if !p.OnlyStreams() {
		p.StreamedUntil = old.LastStreamed(now)
	}
	p.RetiredSecrets = nil
	if len(p.SigningSecrets) == 0 || (p.SecretOverlap != nil && *p.SecretOverlap == 0) {
		return p
	}
	retired := slices.Clone(old.RetiredSecrets)
	if p.SecretOverlap != nil && !slices.Contains(old.Unopened, SecretsPointer) {
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

// RecordPause records who paused the policy, and when: author, at now, unless old was paused already.
func (p Policy) RecordPause(author string, old Policy, now wire.Instant) Policy {
	p.PausedBy, p.PausedAt = "", 0
	switch {
	case p.Paused && old.Paused:
		p.PausedBy, p.PausedAt = old.PausedBy, old.PausedAt
	case p.Paused:
		p.PausedBy, p.PausedAt = author, now
	}
	return p
}

// secretsChangedAt returns when the signing secrets of a policy were set: now, unless they are those of
// old. It is 0 without any.
func secretsChangedAt(old, next Policy, now wire.Instant) wire.Instant {
	switch {
	case len(next.SigningSecrets) == 0:
		return 0
	case slices.Equal(next.SigningSecrets, old.SigningSecrets):
		return old.SecretsChangedAt
	default:
		return now
	}
}

// CheckSigners refuses a successor of old with more signing secrets than fit into one header.
func (p Policy) CheckSigners(old Policy) (errs wire.FieldErrors) {
	signing := len(p.SigningSecrets) + len(p.RetiredSecrets)
	if signing <= MaxSigners || signing <= len(old.SigningSecrets)+len(old.RetiredSecrets) {
		return nil
	}
	first := slices.MinFunc(p.RetiredSecrets, func(a, b RetiredSecret) int { return cmp.Compare(a.Until, b.Until) })
	errs.Add(SecretsPointer, wire.CodeTooLarge, fmt.Sprintf(
		"would make %d secrets sign at once, and at most %d may: wait until %s, when the next overlap ends, "+
			"or set secret_overlap to 0s, which ends every overlap at once", signing, MaxSigners, first.Until))
	return errs
}

func checkSecrets(p Policy) (errs wire.FieldErrors) {
	if !wire.EnforceLength(&errs, ListSecrets, SecretsPointer, len(p.SigningSecrets)) {
		return errs
	}
	for i, secret := range p.SigningSecrets {
		if _, ok := DecodeSecret(secret); !ok {
			errs.Add("/signing_secrets/"+strconv.Itoa(i), wire.CodeInvalidSecret,
				fmt.Sprintf("must be %s and the base64 of %d to %d bytes", SecretPrefix, MinSecretBytes, MaxSecretBytes))
		}
	}
	wire.EnforceGiven(&errs, fieldSecretOverlap, p.SecretOverlap)
	return errs
}

package policy

import (
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Mask is the policy without what is write-only: header values are [delivery.Hidden], and
// a change that sends that back keeps them.
func (p Policy) Mask() Policy {
	p.SigningSecrets = nil
	p.RetiredSecrets = slices.Clone(p.RetiredSecrets)
	for i := range p.RetiredSecrets {
		p.RetiredSecrets[i].Secret = ""
	}
	p.Callback, p.TLS = p.Callback.Masked(), p.TLS.Masked()
	if p.Fallback != nil {
		second := *p.Fallback
		second.Callback = second.Masked()
		p.Fallback = &second
	}
	return p
}

// KeepHeaders gives the named headers the values that they have in old, where their
// names may be written in another case. It refuses a header that old does not have, and a
// value that would go to another origin than the one it was given for.
func (p *Policy) KeepHeaders(old Policy, names []string) (errs wire.FieldErrors) {
	return p.Callback.KeepHeaders(old.Callback, delivery.KeptHeaders{Names: names, Unopened: old.Unopened, Pointer: delivery.HeaderPointer})
}

// KeepFallbackHeaders is [Policy.KeepHeaders] for those of the fallback.
func (p *Policy) KeepFallbackHeaders(old Policy, names []string) (errs wire.FieldErrors) {
	if p.Fallback == nil {
		return nil
	}
	var stored delivery.Callback
	if old.Fallback != nil {
		stored = old.Fallback.Callback
	}
	return p.Fallback.KeepHeaders(stored, delivery.KeptHeaders{Names: names, Unopened: old.Unopened, Pointer: delivery.FallbackHeaderPointer})
}

// KeepSecrets gives the policy the signing secrets of old.
func (p *Policy) KeepSecrets(old Policy) (errs wire.FieldErrors) {
	if slices.Contains(old.Unopened, SecretsPointer) {
		errs.Add(SecretsPointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens them: give them anew, "+delivery.ConfigureKey)
		return errs
	}
	p.SigningSecrets = old.SigningSecrets
	return nil
}

// KeepClientKey gives the policy the client key of old where its own was sent as
// it is shown.
func (p *Policy) KeepClientKey(old Policy) (errs wire.FieldErrors) {
	if p.TLS == nil || p.TLS.ClientKey != delivery.Hidden {
		return nil
	}
	if slices.Contains(old.Unopened, ClientKeyPointer) {
		errs.Add(ClientKeyPointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens it: give it anew, "+delivery.ConfigureKey)
		return errs
	}
	kept := *p.TLS
	kept.ClientKey = ""
	if old.TLS != nil {
		kept.ClientKey = old.TLS.ClientKey
	}
	p.TLS = &kept
	return nil
}

// ClientKeyPointer is where a policy has the key of its client certificate.
const ClientKeyPointer = "/tls/client_key"

// SecretsPointer is where a policy has its signing secrets.
const SecretsPointer = "/signing_secrets"

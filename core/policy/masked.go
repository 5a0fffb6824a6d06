package policy

import (
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Mask returns the policy without its write-only values. Header values become [delivery.Hidden];
// a change with that value keeps them.
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

// KeepHeaders gives the named headers their values in old, regardless of case. It refuses a
// header that old lacks, and a value meant for another origin. If the two links of old have changed
// places, so have their headers.
func (p *Policy) KeepHeaders(old Policy, names []string) (errs wire.FieldErrors) {
	stored, place := old.Callback, delivery.HeaderPointer
	if swapped(old, *p) {
		stored, place = old.Fallback.Callback, delivery.FallbackHeaderPointer
	}
	return p.Callback.KeepHeaders(stored, delivery.KeptHeaders{
		Names: names, Unopened: old.Unopened, Pointer: delivery.HeaderPointer, Stored: place,
	})
}

// swapped reports whether the two links of a policy have changed places.
func swapped(old, next Policy) bool {
	return next.Fallback != nil && old.Fallback != nil &&
		next.Callback.Destination == old.Fallback.Destination && next.Fallback.Destination == old.Callback.Destination
}

// KeepFallbackHeaders is [Policy.KeepHeaders] for the headers of the fallback.
func (p *Policy) KeepFallbackHeaders(old Policy, names []string) (errs wire.FieldErrors) {
	if p.Fallback == nil {
		return nil
	}
	stored, place := delivery.Callback{}, delivery.FallbackHeaderPointer
	switch {
	case swapped(old, *p):
		stored, place = old.Callback, delivery.HeaderPointer
	case old.Fallback != nil:
		stored = old.Fallback.Callback
	}
	return p.Fallback.KeepHeaders(stored, delivery.KeptHeaders{
		Names: names, Unopened: old.Unopened, Pointer: delivery.FallbackHeaderPointer, Stored: place,
	})
}

// KeepSecrets gives the policy the signing secrets of old.
func (p *Policy) KeepSecrets(old Policy) (errs wire.FieldErrors) {
	if slices.Contains(old.Unopened, SecretsPointer) {
		errs.Add(SecretsPointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens them: give them again, "+
			delivery.ConfigureKey)
		return errs
	}
	p.SigningSecrets = old.SigningSecrets
	return nil
}

// KeepClientKey gives the policy the client key of old, if its own is [delivery.Hidden].
func (p *Policy) KeepClientKey(old Policy) (errs wire.FieldErrors) {
	if p.TLS == nil || p.TLS.ClientKey != delivery.Hidden {
		return nil
	}
	if slices.Contains(old.Unopened, ClientKeyPointer) {
		errs.Add(ClientKeyPointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens it: give it again, "+
			delivery.ConfigureKey)
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

// ClientKeyPointer is the place of the key of the client certificate in a policy.
const ClientKeyPointer = "/tls/client_key"

// SecretsPointer is the place of the signing secrets in a policy.
const SecretsPointer = "/signing_secrets"

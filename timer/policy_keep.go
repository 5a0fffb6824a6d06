package timer

import "slices"

// Mask is the policy without what is write-only: header values are [Hidden], and
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
func (p *Policy) KeepHeaders(old Policy, names []string) (errs FieldErrors) {
	return p.Callback.keepHeaders(old.Callback, keeping{names: names, unopened: old.Unopened, pointer: HeaderPointer})
}

// KeepFallbackHeaders is [Policy.KeepHeaders] for those of the fallback.
func (p *Policy) KeepFallbackHeaders(old Policy, names []string) (errs FieldErrors) {
	if p.Fallback == nil {
		return nil
	}
	var stored Callback
	if old.Fallback != nil {
		stored = old.Fallback.Callback
	}
	return p.Fallback.keepHeaders(stored, keeping{names: names, unopened: old.Unopened, pointer: FallbackHeaderPointer})
}

// keeping says which headers are kept, which of the stored ones no key opens, and where
// they stand in a policy.
type keeping struct {
	names, unopened []string
	pointer         func(name string) string
}

func (c *Callback) keepHeaders(old Callback, k keeping) (errs FieldErrors) {
	same := c.sameOrigin(old.Destination)
	for _, name := range slices.Sorted(slices.Values(k.names)) {
		stored, ok := named(old.Headers, name)
		value, pointer := old.Headers[stored], k.pointer(name)
		switch {
		case !ok:
			errs.Add(pointer, CodeRequired, "needs a value: none is stored that "+Hidden+" could keep")
		case !same:
			errs.Add(pointer, CodeConflict, "is kept only for the same scheme, host and port: give its value anew, or remove the header")
		case slices.Contains(k.unopened, k.pointer(stored)):
			errs.Add(pointer, CodeConflict, "cannot be kept, because no configured secret key opens it: give it anew, "+configure)
		default:
			c.Headers[name] = value
		}
	}
	return errs
}

// KeepSecrets gives the policy the signing secrets of old.
func (p *Policy) KeepSecrets(old Policy) (errs FieldErrors) {
	if slices.Contains(old.Unopened, SecretsPointer) {
		errs.Add(SecretsPointer, CodeConflict, "cannot be kept, because no configured secret key opens them: give them anew, "+configure)
		return errs
	}
	p.SigningSecrets = old.SigningSecrets
	return nil
}

// KeepClientKey gives the policy the client key of old where its own was sent as
// it is shown.
func (p *Policy) KeepClientKey(old Policy) (errs FieldErrors) {
	if p.TLS == nil || p.TLS.ClientKey != Hidden {
		return nil
	}
	if slices.Contains(old.Unopened, ClientKeyPointer) {
		errs.Add(ClientKeyPointer, CodeConflict, "cannot be kept, because no configured secret key opens it: give it anew, "+configure)
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

const configure = "or configure the key in WAKECALL_SECRET_KEY"

// SecretsPointer is where a policy has its signing secrets.
const SecretsPointer = "/signing_secrets"

// HeaderPointer is where a policy or a timer has a header.
func HeaderPointer(name string) string { return "/callback/headers/" + escapePointer(name) }

// FallbackHeaderPointer is where a policy has a header of its fallback.
func FallbackHeaderPointer(name string) string { return "/fallback/headers/" + escapePointer(name) }

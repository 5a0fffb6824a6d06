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
	return p
}

// KeepHeaders gives the named headers the values that they have in old, where their
// names may be written in another case. It refuses a header that old does not have, and a
// value that would go to another origin than the one it was given for.
func (p *Policy) KeepHeaders(old Policy, names []string) (errs FieldErrors) {
	same := p.Callback.sameOrigin(old.Callback.Destination)
	for _, name := range slices.Sorted(slices.Values(names)) {
		stored, ok := named(old.Callback.Headers, name)
		value, pointer := old.Callback.Headers[stored], HeaderPointer(name)
		switch {
		case !ok:
			errs.Add(pointer, CodeRequired, "needs a value: none is stored that "+Hidden+" could keep")
		case !same:
			errs.Add(pointer, CodeConflict, "is kept only for the same scheme, host and port: give its value anew, or remove the header")
		case slices.Contains(old.Unopened, HeaderPointer(stored)):
			errs.Add(pointer, CodeConflict, "cannot be kept, because no configured secret key opens it: give it anew, "+configure)
		default:
			p.Callback.Headers[name] = value
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

package policy

import "encoding/json"

// Document returns the policy in the form of a client's PUT: the target of a merge patch. It
// leaves out defaults derived from another field, because that field may change. It leaves out
// the defaults of an exponential ladder, so that steps can replace them. The document of a
// policy without a version is empty.
func (p Policy) Document() []byte {
	if p.Version == 0 {
		return []byte("{}")
	}
	p = p.WithDefaults()
	p.Claims, p.RetiredSecrets, p.BackPressure, p.PressureLiftedAt, p.StreamedUntil = nil, nil, nil, 0, 0
	p.PausedBy, p.PausedAt, p.SecretsChangedAt = "", 0, 0
	p.Retry, p.Limits = p.Retry.WithoutDefaults(), p.Limits.withoutDefaults()
	text, _ := json.Marshal(p) // a policy holds no channel, function or cycle
	return text
}

func (l Limits) withoutDefaults() Limits {
	bare := Limits{AddsPerSecond: l.AddsPerSecond}.withDefaults()
	if l.AddsBurst == bare.AddsBurst {
		l.AddsBurst = 0
	}
	return l
}

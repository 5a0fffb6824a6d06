package policy

import "encoding/json"

// Document is the policy as a client would put it: the target of a merge patch. A default that follows from another field is left
// out, so that it follows that field when it is changed; so are those of an
// exponential ladder, so that steps can take its place. A policy without a
// version is none, and its document is empty.
func (p Policy) Document() []byte {
	if p.Version == 0 {
		return []byte("{}")
	}
	p = p.WithDefaults()
	p.Claims, p.RetiredSecrets, p.BackPressure, p.PressureLiftedAt, p.StreamedUntil = nil, nil, nil, 0, 0
	p.PausedBy, p.PausedAt = "", 0
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

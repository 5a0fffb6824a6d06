package timer

import (
	"crypto/sha256"
	"encoding/hex"
)

// Idempotency is what a timer remembers of the request that booked it, if that had an
// idempotency key. Both are digests, because they are kept in the memo.
type Idempotency struct {
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
}

// IdempotencyOf is what is remembered of a request; nil where it has no key.
func IdempotencyOf(key string, terms Terms) *Idempotency {
	if key == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(key))
	return &Idempotency{Key: hex.EncodeToString(sum[:16]), Fingerprint: terms.Fingerprint()}
}

// Repeats compares a request with the one that booked the timer. same is whether key
// and content are the same; other is whether only the key is.
func (m Memo) Repeats(request *Idempotency) (same, other bool) {
	if request == nil || m.Idempotency == nil || m.Idempotency.Key != request.Key {
		return false, false
	}
	same = m.Idempotency.Fingerprint == request.Fingerprint
	return same, !same
}

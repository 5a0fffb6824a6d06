package timer

import (
	"crypto/sha256"
	"encoding/hex"
)

// Idempotency is what a timer remembers of the request that booked it, if that had
// an idempotency key: digests, since the key may be as long as it likes.
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

// Repeats is whether a timer was booked by the same request, and other whether its
// key has come with another content.
func (c Memo) Repeats(request *Idempotency) (same, other bool) {
	if request == nil || c.Idempotency == nil || c.Idempotency.Key != request.Key {
		return false, false
	}
	same = c.Idempotency.Fingerprint == request.Fingerprint
	return same, !same
}

package timer

import (
	"crypto/sha256"
	"encoding/hex"
)

// Idempotency identifies the request that booked a timer, if it had an idempotency key. Both
// fields are digests, to fit the memo.
type Idempotency struct {
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
}

// EarlierKey is the key of an earlier booking of an id, as a digest, and the last run of that
// booking.
type EarlierKey struct {
	Key   string `json:"key"`
	RunID string `json:"run_id"`
}

// EarlierKeys are the keys of the earlier bookings of an id, the latest first.
type EarlierKeys []EarlierKey

// IdempotencyOf returns the identification of a request; nil if it has no key.
func IdempotencyOf(key string, terms Terms) *Idempotency {
	if key == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(key))
	return &Idempotency{Key: hex.EncodeToString(sum[:16]), Fingerprint: terms.Fingerprint()}
}

// Repeats compares a request with the one that booked the timer. same reports whether key and
// content are equal; other reports whether only the key is.
func (m Memo) Repeats(request *Idempotency) (same, other bool) {
	if !m.BookedUnder(request) {
		return false, false
	}
	same = m.Idempotency.Fingerprint == request.Fingerprint
	return same, !same
}

// BookedUnder reports whether the timer was booked under the key of a request.
func (m Memo) BookedUnder(request *Idempotency) bool {
	return request != nil && m.Idempotency != nil && m.Idempotency.Key == request.Key
}

// Run returns the last run of the earlier booking under the key of a request; "" if none is
// known.
func (k EarlierKeys) Run(request *Idempotency) string {
	for _, earlier := range k {
		if earlier.Key == request.Key {
			return earlier.RunID
		}
	}
	return ""
}

// Following returns the memo of a booking with the id of a timer that ended in a run. It stores
// the latest [MaxEarlierKeys] keys.
func (m Memo) Following(ended Memo, runID string) Memo {
	m.EarlierKeys = ended.EarlierKeys
	if ended.Idempotency != nil {
		m.EarlierKeys = append(EarlierKeys{{Key: ended.Idempotency.Key, RunID: runID}}, ended.EarlierKeys...)
	}
	m.EarlierKeys = m.EarlierKeys[:min(len(m.EarlierKeys), MaxEarlierKeys)]
	return m
}

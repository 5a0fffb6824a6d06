package timer

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/wakecall/wakecall/core/delivery"
)

// Shown returns the attempts of one run for display, the latest first. body is the body that was
// sent.
func (s Spec) Shown(attempts []delivery.Attempt, body []byte, runID string) (shown []delivery.ShownAttempt) {
	one := delivery.ShownAttempt{Round: s.Round + 1, WebhookID: s.WebhookID(), BodySHA256: digest(body), RunID: runID}
	if s.Series != nil {
		one.Occurrence = s.Series.Number
	}
	for i := len(attempts) - 1; i >= 0; i-- {
		one.Attempt = attempts[i]
		shown = append(shown, one)
	}
	return shown
}

// digest is the SHA-256 digest of a body or a payload, as it is shown.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wakecall/wakecall/core/wire"
)

// Attempt is the record of one attempt. It stays with the run until Temporal deletes that.
type Attempt struct {
	Number int `json:"number"`
	// DueAt is when it was due: the due time, or the end of the wait for a retry.
	DueAt wire.Instant `json:"due_at,omitzero"`
	// SentAt is when the first byte left; zero if nothing was sent.
	SentAt  wire.Instant `json:"sent_at,omitzero"`
	EndedAt wire.Instant `json:"ended_at,omitzero"`
	// TookMS is its length in milliseconds.
	TookMS int64        `json:"took_ms"`
	Status int          `json:"status,omitzero"`
	Class  FailureClass `json:"class,omitzero"`
	// Answer is the beginning of a failed answer's body, if it is text and the policy stores it.
	// The last [MaxAnswers] attempts have it.
	Answer string `json:"answer,omitzero"`
	// Link is the link of the attempt, if the policy has two.
	Link   Link   `json:"link,omitzero"`
	Worker string `json:"worker,omitzero"`
	// Result is the verdict, and RetryIn the wait for the next attempt.
	Result  Result        `json:"result"`
	RetryIn wire.Duration `json:"retry_in,omitzero"`
	// AckUntil is the deadline for the acknowledgement of an accepted attempt. SettledAt is when
	// its outcome was known.
	AckUntil  wire.Instant `json:"ack_until,omitzero"`
	SettledAt wire.Instant `json:"settled_at,omitzero"`
	// PolicyVersion is the version of the policy in force; 0 for none.
	PolicyVersion int `json:"policy_version,omitzero"`
	// KeyIDs name the secrets that signed it; see [KeyID].
	KeyIDs []string `json:"key_ids,omitempty"`
}

// KeyID names a signing secret without revealing it: the first hexadecimal digits of the SHA-256
// digest of its text.
func KeyID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:4])
}

// Excerpted returns the beginning of an answer's body, or "" if it is not text.
func Excerpted(body []byte) string {
	if len(body) > MaxAnswer {
		body = body[:MaxAnswer]
		for cut := 0; cut < utf8.UTFMax-1 && len(body) > 0 && !utf8.Valid(body); cut++ {
			body = body[:len(body)-1]
		}
	}
	text := string(body)
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return ""
	}
	return text
}

// Record returns the report with its attempt appended to the attempts before it. It drops the
// oldest answers beyond [MaxAnswers].
func (r Report) Record(before []Attempt, attempt Attempt) Report {
	attempt.Number, attempt.SentAt, attempt.EndedAt, attempt.Link = r.Attempt, r.SentAt, r.EndedAt, r.Link
	attempt.Result, attempt.RetryIn, attempt.PolicyVersion, attempt.AckUntil = r.Result, r.RetryIn, r.PolicyVersion, r.AckUntil
	if r.Result == ResultAccepted { // the wait is for a failure
		attempt.RetryIn = 0
	}
	r.Attempts = append(append([]Attempt{}, before...), attempt)
	if old := len(r.Attempts) - 1 - MaxAnswers; old >= 0 {
		r.Attempts[old].Answer = ""
	}
	return r
}

// WithoutRecords returns the report without the records of attempts up to a number, which are stored
// already. [Report.Following] restores them.
func (r Report) WithoutRecords(number int) Report {
	r.Attempts = slices.DeleteFunc(slices.Clone(r.Attempts), func(a Attempt) bool { return a.Number <= number })
	return r
}

// Following returns the report with the records of earlier attempts before its own.
func (r Report) Following(before []Attempt) Report {
	own := r.Attempts
	r.Attempts = slices.DeleteFunc(slices.Clone(before), func(a Attempt) bool { return len(own) > 0 && a.Number >= own[0].Number })
	r.Attempts = append(r.Attempts, own...)
	for i := range len(r.Attempts) - MaxAnswers {
		r.Attempts[i].Answer = ""
	}
	return r
}

// ShownAttempt is an attempt as readers see it.
type ShownAttempt struct {
	Attempt
	// Round is the delivery of the booking, from 1. Each round numbers its attempts from 1.
	Round int `json:"round"`
	// WebhookID and Occurrence identify the delivery; only recurring timers have an Occurrence.
	// BodySHA256 is the digest of the body that was sent.
	WebhookID  string `json:"webhook_id"`
	Occurrence int    `json:"occurrence,omitzero"`
	BodySHA256 string `json:"body_sha256"`
	RunID      string `json:"run_id"`
}

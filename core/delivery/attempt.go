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

// Attempt is the record of one attempt, kept with the run until Temporal forgets it.
type Attempt struct {
	Number int `json:"number"`
	// DueAt is when it was to be made: the due time, or the end of the wait for a retry.
	DueAt wire.Instant `json:"due_at,omitzero"`
	// SentAt is when the first byte left; zero when nothing was sent.
	SentAt  wire.Instant `json:"sent_at,omitzero"`
	EndedAt wire.Instant `json:"ended_at,omitzero"`
	// TookMS is how long it took, in milliseconds.
	TookMS int64        `json:"took_ms"`
	Status int          `json:"status,omitzero"`
	Class  FailureClass `json:"class,omitzero"`
	// Answer is the beginning of a failed answer's body, where that is text, the policy
	// keeps it, of the last [MaxAnswers] attempts.
	Answer string `json:"answer,omitzero"`
	// Link is by which link of the policy it went, where that has two.
	Link   Link   `json:"link,omitzero"`
	Worker string `json:"worker,omitzero"`
	// Result is the verdict, and RetryIn how long the next attempt was to wait.
	Result  Result        `json:"result"`
	RetryIn wire.Duration `json:"retry_in,omitzero"`
	// AckUntil is when the receiver of an accepted attempt has to have acknowledged it, and
	// SettledAt when it was known what became of it.
	AckUntil  wire.Instant `json:"ack_until,omitzero"`
	SettledAt wire.Instant `json:"settled_at,omitzero"`
	// PolicyVersion is the one it was made under; 0 for none.
	PolicyVersion int `json:"policy_version,omitzero"`
	// KeyIDs name the secrets that signed it; see [KeyID].
	KeyIDs []string `json:"key_ids,omitempty"`
}

// KeyID names a signing secret without telling it: the first hexadecimal digits of the
// SHA-256 digest of its text.
func KeyID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:4])
}

// Excerpted is the beginning of an answer's body, or nothing where it is no text.
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

// Record is the report with its attempt recorded behind those before it. The bodies of
// the oldest make room.
func (r Report) Record(before []Attempt, attempt Attempt) Report {
	attempt.Number, attempt.SentAt, attempt.EndedAt, attempt.Link = r.Attempt, r.SentAt, r.EndedAt, r.Link
	attempt.Result, attempt.RetryIn, attempt.PolicyVersion, attempt.AckUntil = r.Result, r.RetryIn, r.PolicyVersion, r.AckUntil
	if r.Result == ResultAccepted { // the wait is that of a failure
		attempt.RetryIn = 0
	}
	r.Attempts = append(append([]Attempt{}, before...), attempt)
	if old := len(r.Attempts) - 1 - MaxAnswers; old >= 0 {
		r.Attempts[old].Answer = ""
	}
	return r
}

// Behind is the report without the records of attempts up to a number: what is kept of it
// beside a store that has those. [Report.Following] puts them in front again.
func (r Report) Behind(number int) Report {
	r.Attempts = slices.DeleteFunc(slices.Clone(r.Attempts), func(a Attempt) bool { return a.Number <= number })
	return r
}

// Following is the report with the records of the attempts before it in front of its own.
func (r Report) Following(before []Attempt) Report {
	own := r.Attempts
	r.Attempts = slices.DeleteFunc(slices.Clone(before), func(a Attempt) bool { return len(own) > 0 && a.Number >= own[0].Number })
	r.Attempts = append(r.Attempts, own...)
	for i := range len(r.Attempts) - MaxAnswers {
		r.Attempts[i].Answer = ""
	}
	return r
}

// ShownAttempt is what a reader is shown of an attempt.
type ShownAttempt struct {
	Attempt
	// Round is the delivery of the booking that it was made in, from 1. Each one numbers its
	// attempts from 1.
	Round int `json:"round"`
	// WebhookID and Occurrence are those of the delivery, Occurrence only of a recurring
	// timer's. BodySHA256 is the digest of the body that was sent.
	WebhookID  string `json:"webhook_id"`
	Occurrence int    `json:"occurrence,omitzero"`
	BodySHA256 string `json:"body_sha256"`
	RunID      string `json:"run_id"`
}

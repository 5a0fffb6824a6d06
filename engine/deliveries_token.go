package engine

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/timer"
)

// ErrAckToken is the error of a token that does not let its bearer acknowledge.
var ErrAckToken = &timer.Error{Code: timer.WrongAckToken, Message: "The token is not that of the delivery."}

// tokenText writes the parts of a token.
var tokenText = base64.RawURLEncoding

// AckToken lets its bearer acknowledge one delivery: it names the timer and the attempt,
// and a code over these and the webhook id, which only who has Wakecall's secret key can
// make. It is "" where there is no such key, and is never stored.
func (d *Deliveries) AckToken(key timer.Key, webhookID string, attempt int) string {
	code, err := d.box.Code(ackMessage(key, webhookID, attempt))
	if err != nil {
		return ""
	}
	return tokenText.EncodeToString([]byte(key.String())) + "." + strconv.Itoa(attempt) + "." + tokenText.EncodeToString(code)
}

// Open is the delivery that a token is for. Its error is [ErrAckToken].
func (d *Deliveries) Open(webhookID, token string) (Accepted, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return Accepted{}, ErrAckToken
	}
	id, badID := tokenText.DecodeString(parts[0])
	attempt, badAttempt := strconv.Atoi(parts[1])
	code, badCode := tokenText.DecodeString(parts[2])
	key, ok := timer.ParseKey(string(id))
	if badID != nil || badAttempt != nil || badCode != nil || !ok || !d.box.Made(ackMessage(key, webhookID, attempt), code) {
		return Accepted{}, ErrAckToken
	}
	return Accepted{Key: key, WebhookID: webhookID, Attempt: attempt}, nil
}

func ackMessage(key timer.Key, webhookID string, attempt int) string {
	return strings.Join([]string{"acknowledgement", webhookID, key.String(), strconv.Itoa(attempt)}, "\n")
}

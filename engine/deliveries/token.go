package deliveries

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// ErrAckToken is the error of a token that does not permit the acknowledgement.
var ErrAckToken = &wire.Error{Code: wire.WrongAckToken, Message: "The token does not belong to the delivery."}

// tokenText encodes the parts of a token.
var tokenText = base64.RawURLEncoding

// AckToken lets its bearer acknowledge one delivery. It names the timer and the attempt,
// with a code over these and the webhook id that needs Wakecall's secret key. It is ""
// without such a key, and is never stored.
func (d *Deliveries) AckToken(of timer.Spec, attempt int) string {
	a := Accepted{Key: of.Key, WebhookID: of.WebhookID(), Round: of.Round, Attempt: attempt}
	code, err := d.box.Code(ackMessage(a))
	if err != nil {
		return ""
	}
	return strings.Join([]string{
		tokenText.EncodeToString([]byte(a.Key.String())), strconv.Itoa(a.Round), strconv.Itoa(attempt), tokenText.EncodeToString(code),
	}, ".")
}

// Open is the delivery of a token. The error is [ErrAckToken].
func (d *Deliveries) Open(webhookID, token string) (Accepted, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 4 {
		return Accepted{}, ErrAckToken
	}
	id, badID := tokenText.DecodeString(parts[0])
	round, badRound := strconv.Atoi(parts[1])
	attempt, badAttempt := strconv.Atoi(parts[2])
	code, badCode := tokenText.DecodeString(parts[3])
	key, ok := wire.ParseKey(string(id))
	of := Accepted{Key: key, WebhookID: webhookID, Round: round, Attempt: attempt}
	if errors.Join(badID, badRound, badAttempt, badCode) != nil || !ok || !d.box.Made(ackMessage(of), code) {
		return Accepted{}, ErrAckToken
	}
	return of, nil
}

func ackMessage(of Accepted) string {
	return strings.Join([]string{"acknowledgement", of.WebhookID, of.Key.String(), strconv.Itoa(of.Round), strconv.Itoa(of.Attempt)}, "\n")
}

package send

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/policy"
)

// signed is the content that Standard Webhooks signs: "{id}.{unix seconds}.{body}".
type signed struct {
	id   string
	at   time.Time // of this attempt, renewed for each
	body []byte
}

// sign adds the Standard Webhooks headers: one v1 signature for each secret, space-delimited,
// so that secrets rotate without a gap. Without a secret there is no signature header.
func sign(headers map[string]string, m signed, secrets []string) {
	stamp := strconv.FormatInt(m.at.Unix(), 10)
	headers[HeaderWebhookID] = m.id
	headers[HeaderWebhookTimestamp] = stamp
	var signatures []string
	for _, secret := range secrets {
		key, ok := policy.DecodeSecret(secret)
		if !ok {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(m.id + "." + stamp + "."))
		mac.Write(m.body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(signatures) > 0 {
		headers[HeaderWebhookSignature] = strings.Join(signatures, " ")
	}
}

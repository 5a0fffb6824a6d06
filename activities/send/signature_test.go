package send

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The vector that the Standard Webhooks libraries share.
func TestStandardWebhooksVector(t *testing.T) {
	t.Parallel()
	m := signed{id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: time.Unix(1614265330, 0), body: []byte(`{"test": 2432232314}`)}
	const secret, want = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	headers := map[string]string{}
	sign(headers, m, []string{secret})
	require.Equal(t, map[string]string{
		HeaderWebhookID: m.id, HeaderWebhookTimestamp: "1614265330", HeaderWebhookSignature: want,
	}, headers)
	sign(headers, m, []string{secret, secret})
	require.Equal(t, want+" "+want, headers[HeaderWebhookSignature], "several signatures stand in one header")
}

func TestNoSecretNoSignature(t *testing.T) {
	t.Parallel()
	headers := map[string]string{}
	sign(headers, signed{id: "msg_1", at: time.Unix(1, 0)}, nil)
	require.NotContains(t, headers, HeaderWebhookSignature)
}

package policy_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

func secretOf(n int) string {
	return policy.SecretPrefix + base64.StdEncoding.EncodeToString(make([]byte, n))
}

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	good := policy.Policy{BusinessType: "a", Callback: delivery.Callback{Destination: delivery.HTTP("https://example.com/")}, SigningSecrets: []string{secretOf(24), secretOf(64)}}
	require.Empty(t, good.Check())
	require.Empty(t, policy.Policy{BusinessType: "a", Paused: true}.Check(), "its timers bring their own URL")
	bad := policy.Policy{
		BusinessType: "A", Callback: delivery.Callback{Headers: map[string]string{"X-A": "b"}, Timeout: wire.Duration(time.Hour)}, Retry: delivery.Retry{Jitter: 2, Initial: 1e9},
		ExpiresAfter: -1, SigningSecrets: []string{secretOf(23), "whsec_***", "abc"},
	}
	var got []string
	for _, fieldErr := range bad.Check() {
		got = append(got, fieldErr.Pointer)
	}
	require.Equal(t, []string{
		"/business_type", "/callback/headers", "/callback/timeout", "/retry/jitter", "/expires_after",
		"/signing_secrets/0", "/signing_secrets/1", "/signing_secrets/2",
	}, got)
	many := policy.Policy{BusinessType: "a", Paused: true, SigningSecrets: make([]string, 1000)}
	require.Equal(t, wire.FieldErrors{{Pointer: "/signing_secrets", Code: wire.CodeTooLarge, Detail: "must have at most 3 secrets"}}, many.Check(),
		"of a list that is too long nothing more is said")
}

func TestPolicyDefaults(t *testing.T) {
	t.Parallel()
	p := policy.Policy{}.WithDefaults()
	require.Equal(t, delivery.DefaultRetry(), p.Retry)
	require.Equal(t, delivery.DefaultAttemptTimeout, p.Callback.Timeout.D())
	none := policy.Policy{Retry: delivery.Retry{Steps: []wire.Duration{}}}.WithDefaults()
	require.Equal(t, 1, none.Retry.Attempts(), "an empty ladder is a ladder")
}

// Stored policies always read the same. A field left out has its default, as when zero was left
// out too.
func TestStoredPoliciesStillRead(t *testing.T) {
	t.Parallel()
	const first = `{"business_type":"order","version":1,"callback":{"url":"https://h/","timeout":"10s"},"retry":{"steps":["1s"]},"limits":{}}`
	const full = `{"business_type":"order","version":3,"callback":{"url":"https://h/","headers":{"X-A":"sealed:v1:x"},"timeout":"5s"},` +
		`"retry":{"initial":"1s","multiplier":2,"max_interval":"1h","max_attempts":10,"jitter":0.2},"expires_after":"24h",` +
		`"signing_secrets":["sealed:v1:y"],"secret_overlap":"24h","retired_secrets":[{"secret":"sealed:v1:z","until":"2026-11-21T12:00:00.000Z"}],` +
		`"limits":{"adds_per_second":0,"adds_burst":1,"callbacks_per_second":0,"in_flight":200,"pending":7},"priority":3,"paused":true,` +
		`"alert":{"url":"https://h/"},"min_interval":"1s","preload":"2s","on_time":"1s",` +
		`"back_pressure":{"until":"2026-11-21T12:00:00.000Z","since":"2026-11-21T11:00:00.000Z","status":503}}`
	var old, p policy.Policy
	require.NoError(t, json.Unmarshal([]byte(full), &p))
	again, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, full, string(again))
	require.Equal(t, 7, *p.Limits.Pending)

	require.NoError(t, json.Unmarshal([]byte(first), &old))
	old = old.WithDefaults()
	require.Nil(t, old.Limits.Pending, "no limit")
	require.Equal(t, policy.DefaultInFlight, old.Limits.InFlight)
	require.Equal(t, policy.DefaultPreload, old.Preload.D())
	require.Equal(t, recurrence.MinInterval, old.MinInterval.D())
	require.Equal(t, policy.DefaultOnTime, old.OnTime.D())
	require.Equal(t, policy.DefaultPriority, old.Priority)
	require.Zero(t, old.ExpiresAfter, "never")
}

func TestPreloadOfNothingIsNone(t *testing.T) {
	t.Parallel()
	none := policy.Policy{Preload: new(wire.Duration)}.WithDefaults()
	require.Zero(t, none.Preloading("b"), "handed out when it rings")
	require.Zero(t, none.Preloading("b").Widened(1000, 1), "also in a crowd")
	left := policy.Preload{Lead: wire.Duration(policy.DefaultPreload), Window: wire.Duration(policy.DefaultPreload)}
	require.Equal(t, left, policy.Policy{}.Preloading("b"), "left out is not zero")
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b", wire.Excerpt("\x1ba\nb\x7f"))
	long := wire.Excerpt(string(make([]rune, 0)) + string([]byte{'x'}) + stringOf('é', wire.MaxFailureMessage))
	require.LessOrEqual(t, len(long), wire.MaxFailureMessage)
	require.NotContains(t, long, "\uFFFD")
}

func stringOf(r rune, n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = r
	}
	return string(text)
}

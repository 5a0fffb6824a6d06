package timer_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func secretOf(n int) string {
	return timer.SecretPrefix + base64.StdEncoding.EncodeToString(make([]byte, n))
}

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	good := timer.Policy{BusinessType: "a", Callback: timer.Callback{Destination: timer.HTTP("https://example.com/")}, SigningSecrets: []string{secretOf(24), secretOf(64)}}
	require.Empty(t, good.Check())
	require.Empty(t, timer.Policy{BusinessType: "a", Paused: true}.Check(), "its timers bring their own URL")
	bad := timer.Policy{
		BusinessType: "A", Callback: timer.Callback{Headers: map[string]string{"X-A": "b"}, Timeout: timer.Duration(time.Hour)}, Retry: timer.Retry{Jitter: 2, Initial: 1e9},
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
	many := timer.Policy{BusinessType: "a", Paused: true, SigningSecrets: make([]string, 1000)}
	require.Equal(t, timer.FieldErrors{{Pointer: "/signing_secrets", Code: timer.CodeTooLarge, Detail: "must have at most 3 secrets"}}, many.Check(),
		"of a list that is too long nothing more is said")
}

func TestPolicyDefaults(t *testing.T) {
	t.Parallel()
	policy := timer.Policy{}.WithDefaults()
	require.Equal(t, timer.DefaultRetry(), policy.Retry)
	require.Equal(t, timer.DefaultAttemptTimeout, policy.Callback.Timeout.D())
	none := timer.Policy{Retry: timer.Retry{Steps: []timer.Duration{}}}.WithDefaults()
	require.Equal(t, 1, none.Retry.Attempts(), "an empty ladder is a ladder")
}

// Policies as they are stored read the same for ever: what is left out has its
// default, as it had when zero was left out too.
func TestStoredPoliciesStillRead(t *testing.T) {
	t.Parallel()
	const first = `{"business_type":"order","version":1,"callback":{"url":"https://h/","timeout":"10s"},"retry":{"steps":["1s"]},"limits":{}}`
	const full = `{"business_type":"order","version":3,"callback":{"url":"https://h/","headers":{"X-A":"sealed:v1:x"},"timeout":"5s"},` +
		`"retry":{"initial":"1s","multiplier":2,"max_interval":"1h","max_attempts":10,"jitter":0.2},"expires_after":"24h",` +
		`"signing_secrets":["sealed:v1:y"],"secret_overlap":"24h","retired_secrets":[{"secret":"sealed:v1:z","until":"2026-11-21T12:00:00.000Z"}],` +
		`"limits":{"adds_per_second":0,"adds_burst":1,"callbacks_per_second":0,"in_flight":200,"pending":7},"priority":3,"paused":true,` +
		`"alert":{"url":"https://h/"},"min_interval":"1s","preload":"2s",` +
		`"back_pressure":{"until":"2026-11-21T12:00:00.000Z","since":"2026-11-21T11:00:00.000Z","status":503}}`
	var old, policy timer.Policy
	require.NoError(t, json.Unmarshal([]byte(full), &policy))
	again, err := json.Marshal(policy)
	require.NoError(t, err)
	require.JSONEq(t, full, string(again))
	require.Equal(t, 7, *policy.Limits.Pending)

	require.NoError(t, json.Unmarshal([]byte(first), &old))
	old = old.WithDefaults()
	require.Nil(t, old.Limits.Pending, "no limit")
	require.Equal(t, timer.DefaultInFlight, old.Limits.InFlight)
	require.Equal(t, timer.DefaultPreload, old.Preload.D())
	require.Equal(t, timer.MinInterval, old.MinInterval.D())
	require.Equal(t, timer.DefaultPriority, old.Priority)
	require.Zero(t, old.ExpiresAfter, "never")
}

func TestPreloadOfNothingIsNone(t *testing.T) {
	t.Parallel()
	none := timer.Policy{Preload: new(timer.Duration)}.WithDefaults()
	require.Zero(t, none.Preloading("b"), "handed out when it rings")
	require.Zero(t, none.Preloading("b").Widened(1000, 1), "also in a crowd")
	left := timer.Preload{Lead: timer.Duration(timer.DefaultPreload), Window: timer.Duration(timer.DefaultPreload)}
	require.Equal(t, left, timer.Policy{}.Preloading("b"), "left out is not zero")
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b", timer.Excerpt("\x1ba\nb\x7f"))
	long := timer.Excerpt(string(make([]rune, 0)) + string([]byte{'x'}) + stringOf('é', timer.MaxFailureMessage))
	require.LessOrEqual(t, len(long), timer.MaxFailureMessage)
	require.NotContains(t, long, "\uFFFD")
}

func stringOf(r rune, n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = r
	}
	return string(text)
}

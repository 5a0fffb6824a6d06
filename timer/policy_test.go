package timer_test

import (
	"encoding/base64"
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
	good := timer.Policy{BusinessType: "a", Callback: timer.Callback{URL: "https://example.com/"}, SigningSecrets: []string{secretOf(24), secretOf(64)}}
	require.Empty(t, good.Check())
	bad := timer.Policy{
		BusinessType: "A", Callback: timer.Callback{Timeout: timer.Duration(time.Hour)}, Retry: timer.Retry{Jitter: 2, Initial: 1e9},
		ExpiresAfter: -1, SigningSecrets: []string{secretOf(23), "whsec_***", "abc", secretOf(65)},
	}
	var got []string
	for _, fault := range bad.Check() {
		got = append(got, fault.Pointer)
	}
	require.Equal(t, []string{
		"/business_type", "/callback/url", "/callback/timeout", "/retry/jitter", "/expires_after", "/signing_secrets",
		"/signing_secrets/0", "/signing_secrets/1", "/signing_secrets/2", "/signing_secrets/3",
	}, got)
}

func TestPolicyDefaults(t *testing.T) {
	t.Parallel()
	policy := timer.Policy{}.WithDefaults()
	require.Equal(t, timer.DefaultRetry(), policy.Retry)
	require.Equal(t, timer.DefaultAttemptTimeout, policy.Callback.Timeout.D())
	none := timer.Policy{Retry: timer.Retry{Steps: []timer.Duration{}}}.WithDefaults()
	require.Equal(t, 1, none.Retry.Attempts(), "an empty ladder is a ladder")
}

func TestCodesAreNamedOnce(t *testing.T) {
	t.Parallel()
	seen := map[timer.Code]bool{}
	for _, code := range timer.Codes() {
		require.False(t, seen[code], code)
		seen[code] = true
	}
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

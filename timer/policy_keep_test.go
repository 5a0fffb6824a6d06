package timer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestHeadersAreKeptForTheirOriginOnly(t *testing.T) {
	t.Parallel()
	old := timer.Policy{Callback: timer.Callback{Destination: timer.HTTP("https://Host.example/a"), Headers: map[string]string{"A": "1", "B/x": "2"}}}
	for url, kept := range map[string]bool{
		"https://host.example/b?c": true, "https://host.example:443/": true,
		"http://host.example/a": false, "https://host.example:8443/a": false, "https://other.example/a": false,
		"https://sub.host.example/a": false, "https://host.example.evil.example/a": false,
	} {
		next := timer.Policy{Callback: timer.Callback{Destination: timer.HTTP(url), Headers: map[string]string{"a": timer.Hidden, "B/x": "mine"}}}
		errs := next.KeepHeaders(old, []string{"a"})
		require.Equal(t, "mine", next.Callback.Headers["B/x"])
		if kept {
			require.Empty(t, errs, url)
			require.Equal(t, "1", next.Callback.Headers["a"])
			continue
		}
		require.Len(t, errs, 1, url)
		require.Equal(t, "/callback/headers/a", errs[0].Pointer)
		require.Equal(t, timer.Hidden, next.Callback.Headers["a"], "nothing was handed over")
	}
	next := timer.Policy{Callback: timer.Callback{Destination: timer.HTTP(old.Callback.URL), Headers: map[string]string{"C": timer.Hidden}}}
	errs := next.KeepHeaders(old, []string{"C"})
	require.Len(t, errs, 1, "there is none to keep")
	require.Equal(t, "/callback/headers/C", errs[0].Pointer)
}

// What no configured key opens cannot be kept, and is named.
func TestUnopenedValuesAreNotKept(t *testing.T) {
	t.Parallel()
	old := timer.Policy{
		Version: 1, Callback: timer.Callback{Destination: timer.HTTP("https://h/"), Headers: map[string]string{"A": "sealed", "B": "open"}},
		SigningSecrets: []string{"sealed"}, Unopened: []string{"/callback/headers/A", timer.SecretsPointer},
	}
	next := timer.Policy{Callback: timer.Callback{Destination: timer.HTTP("https://h/"), Headers: map[string]string{"A": timer.Hidden, "B": timer.Hidden}}}
	errs := append(next.KeepHeaders(old, []string{"A", "B"}), next.KeepSecrets(old)...)
	require.Len(t, errs, 2)
	require.Equal(t, "/callback/headers/A", errs[0].Pointer)
	require.Equal(t, timer.SecretsPointer, errs[1].Pointer)
	require.Equal(t, "open", next.Callback.Headers["B"])

	next.SigningSecrets = []string{"new"}
	require.Empty(t, next.WithDefaults().NextVersion(old, timer.At(time.Now())).RetiredSecrets, "what is not opened cannot sign")
}

// However often secrets are replaced, few of them sign, and the newest.
func TestSignersAreBounded(t *testing.T) {
	t.Parallel()
	now := timer.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	key := func(n int) string { return strings.Repeat("k", n) }
	rotate := func(old timer.Policy, n int, overlap time.Duration) (timer.Policy, timer.FieldErrors) {
		d := timer.Duration(overlap)
		next := timer.Policy{SigningSecrets: []string{key(3 * n), key(3*n + 1), key(3*n + 2)}, SecretOverlap: &d}.NextVersion(old, now.Add(time.Duration(n)*time.Minute))
		return next, next.CheckSigners(old)
	}
	var policy timer.Policy
	rotations := 0
	for {
		next, errs := rotate(policy, rotations, 24*time.Hour)
		if len(errs) > 0 {
			require.Equal(t, timer.SecretsPointer, errs[0].Pointer)
			require.Contains(t, errs[0].Detail, "2027-01-02T00:01:00.000Z", "when the first overlap ends")
			require.Contains(t, errs[0].Detail, "secret_overlap")
			break
		}
		policy = next
		rotations++
	}
	require.Equal(t, 6, rotations)
	require.LessOrEqual(t, len(policy.Secrets(now.Time())), timer.MaxSigners)
	waited, errs := rotate(policy, 24*60+1, 24*time.Hour)
	require.Empty(t, errs, "the first overlap has ended")
	require.Len(t, waited.Secrets(now.Time()), 18)
	ended, errs := rotate(policy, rotations, 0)
	require.Empty(t, errs)
	require.Empty(t, ended.RetiredSecrets, "every overlap has ended at once")

	paused := policy // a policy from before there was a bound
	for n := range 100 {
		paused.RetiredSecrets = append(paused.RetiredSecrets, timer.RetiredSecret{Secret: key(1000 + n), Until: now.Add(time.Hour)})
	}
	signing := paused.Secrets(now.Time())
	require.Len(t, signing, timer.MaxSigners)
	require.Equal(t, append(policy.SigningSecrets, key(1099)), signing[:4], "the newest")
	next := paused
	next.Paused = true
	require.Empty(t, next.NextVersion(paused, now).CheckSigners(paused), "and it can be changed otherwise")
}

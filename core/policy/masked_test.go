package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

func TestHeadersAreKeptForTheirOriginOnly(t *testing.T) {
	t.Parallel()
	old := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://Host.example/a"), Headers: map[string]string{"A": "1", "B/x": "2"}}}
	for url, kept := range map[string]bool{
		"https://host.example/b?c": true, "https://host.example:443/": true,
		"http://host.example/a": false, "https://host.example:8443/a": false, "https://other.example/a": false,
		"https://sub.host.example/a": false, "https://host.example.evil.example/a": false,
	} {
		next := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP(url), Headers: map[string]string{"a": delivery.Hidden, "B/x": "mine"}}}
		errs := next.KeepHeaders(old, []string{"a"})
		require.Equal(t, "mine", next.Callback.Headers["B/x"])
		if kept {
			require.Empty(t, errs, url)
			require.Equal(t, "1", next.Callback.Headers["a"])
			continue
		}
		require.Len(t, errs, 1, url)
		require.Equal(t, "/callback/headers/a", errs[0].Pointer)
		require.Equal(t, delivery.Hidden, next.Callback.Headers["a"], "nothing was handed over")
	}
	next := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP(old.Callback.URL), Headers: map[string]string{"C": delivery.Hidden}}}
	errs := next.KeepHeaders(old, []string{"C"})
	require.Len(t, errs, 1, "there is none to keep")
	require.Equal(t, "/callback/headers/C", errs[0].Pointer)
}

// A value that no configured key opens cannot be kept, and is named.
func TestUnopenedValuesAreNotKept(t *testing.T) {
	t.Parallel()
	old := policy.Policy{
		Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://h/"), Headers: map[string]string{"A": "sealed", "B": "open"}},
		SigningSecrets: []string{"sealed"}, Unopened: []string{"/callback/headers/A", policy.SecretsPointer},
	}
	next := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://h/"), Headers: map[string]string{"A": delivery.Hidden, "B": delivery.Hidden}}}
	errs := append(next.KeepHeaders(old, []string{"A", "B"}), next.KeepSecrets(old)...)
	require.Len(t, errs, 2)
	require.Equal(t, "/callback/headers/A", errs[0].Pointer)
	require.Equal(t, policy.SecretsPointer, errs[1].Pointer)
	require.Equal(t, "open", next.Callback.Headers["B"])

	next.SigningSecrets = []string{"new"}
	require.Empty(t, next.WithDefaults().NextVersion(old, wire.At(time.Now())).RetiredSecrets, "what is not opened cannot sign")
}

// For any number of replacements, few secrets sign, and the newest are among them.
func TestSignersAreBounded(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	key := func(n int) string { return strings.Repeat("k", n) }
	rotate := func(old policy.Policy, n int, overlap time.Duration) (policy.Policy, wire.FieldErrors) {
		d := wire.Duration(overlap)
		next := policy.Policy{SigningSecrets: []string{key(3 * n), key(3*n + 1), key(3*n + 2)}, SecretOverlap: &d}.NextVersion(old, now.Add(time.Duration(n)*time.Minute))
		return next, next.CheckSigners(old)
	}
	var p policy.Policy
	rotations := 0
	for {
		next, errs := rotate(p, rotations, 24*time.Hour)
		if len(errs) > 0 {
			require.Equal(t, policy.SecretsPointer, errs[0].Pointer)
			require.Contains(t, errs[0].Detail, "2027-01-02T00:01:00.000Z", "when the first overlap ends")
			require.Contains(t, errs[0].Detail, "secret_overlap")
			break
		}
		p = next
		rotations++
	}
	require.Equal(t, 6, rotations)
	require.LessOrEqual(t, len(p.Secrets(now.Time())), policy.MaxSigners)
	waited, errs := rotate(p, 24*60+1, 24*time.Hour)
	require.Empty(t, errs, "the first overlap has ended")
	require.Len(t, waited.Secrets(now.Time()), 18)
	ended, errs := rotate(p, rotations, 0)
	require.Empty(t, errs)
	require.Empty(t, ended.RetiredSecrets, "every overlap has ended at once")

	paused := p // a policy with more secrets than the bound
	for n := range 100 {
		paused.RetiredSecrets = append(paused.RetiredSecrets, policy.RetiredSecret{Secret: key(1000 + n), Until: now.Add(time.Hour)})
	}
	signing := paused.Secrets(now.Time())
	require.Len(t, signing, policy.MaxSigners)
	require.Equal(t, append(p.SigningSecrets, key(1099)), signing[:4], "the newest")
	next := paused
	next.Paused = true
	require.Empty(t, next.NextVersion(paused, now).CheckSigners(paused), "and it can be changed otherwise")
}

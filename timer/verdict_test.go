package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestEveryStatusHasItsVerdict(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 599; status++ {
		want := timer.RuleRetry
		switch {
		case status >= 200 && status <= 299:
			want = timer.RuleDelivered
		case status == 410:
			want = timer.RuleStop
		}
		require.Equal(t, want, timer.Judge(timer.Answer{Status: status}, noon).Ruling, "%d", status)
	}
}

func TestVerdictOfTrouble(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[timer.Trouble]timer.Ruling{
		timer.BlockedAddress: timer.RuleStop, timer.BadRequest: timer.RuleStop, timer.NoReceiver: timer.RuleRetry, timer.DNSFailure: timer.RuleRetry,
		timer.ConnectFailure: timer.RuleRetry, timer.TLSFailure: timer.RuleRetry, timer.Timeout: timer.RuleRetry,
		timer.BrokenAnswer: timer.RuleRetry,
	} {
		require.Equal(t, want, timer.Judge(timer.Answer{Trouble: trouble}, noon).Ruling, trouble)
	}
}

func TestNoRetryStopsWhateverTheStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{302, 400, 429, 500, 503} {
		require.Equal(t, timer.RuleStop, timer.Judge(timer.Answer{Status: status, NoRetry: true, RetryAfter: "5"}, noon).Ruling)
	}
	require.Equal(t, timer.RuleDelivered, timer.Judge(timer.Answer{Status: 200, NoRetry: true}, noon).Ruling)
}

func TestRetryAfterCountsOn429And503Only(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 599; status++ {
		var want time.Duration
		if status == 429 || status == 503 {
			want = 7 * time.Second
		}
		require.Equal(t, want, timer.Judge(timer.Answer{Status: status, RetryAfter: "7"}, noon).RetryAfter, "%d", status)
	}
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "999999": timer.MaxRetryAfter,
		"4294967295": timer.MaxRetryAfter, "4294967296": timer.MaxRetryAfter, "999999999999": timer.MaxRetryAfter,
		"99999999999999999999": timer.MaxRetryAfter, "0000000000000000000000": 0, "0000000000000000000007": 7 * time.Second,
		"Sat, 21 Nov 2026 12:00:30 GMT":    30 * time.Second,
		"Saturday, 21-Nov-26 12:00:30 GMT": 30 * time.Second,
		"Sat Nov 21 12:00:30 2026":         30 * time.Second,
		"Sat, 21 Nov 2026 11:00:00 GMT":    0, // passed
		"Sat, 21 Nov 2099 11:00:00 GMT":    timer.MaxRetryAfter,
		"":                                 0, "soon": 0, "-5": 0, "1.5": 0, "+5": 0, "5s": 0,
	} {
		require.Equal(t, want, timer.ParseRetryAfter(header, noon), "%q", header)
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 21 Nov 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, header string) {
		wait := timer.ParseRetryAfter(header, noon)
		if wait < 0 || wait > timer.MaxRetryAfter {
			t.Fatalf("%q asks for %s", header, wait)
		}
	})
}

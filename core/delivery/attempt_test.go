package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestAttemptsAreRecorded(t *testing.T) {
	t.Parallel()
	var report delivery.Report
	for n := 1; n <= delivery.MaxAttempts; n++ {
		report = delivery.Report{Result: delivery.ResultRetry, Attempt: n, EndedAt: wire.At(noon), Link: delivery.LinkFallback, PolicyVersion: 2}.
			Record(report.Attempts, delivery.Attempt{Answer: strings.Repeat("x", delivery.MaxAnswer), Worker: "w", KeyIDs: []string{"0a1b2c3d"}})
	}
	require.Len(t, report.Attempts, delivery.MaxAttempts)
	kept := 0
	for i, attempt := range report.Attempts {
		require.Equal(t, i+1, attempt.Number)
		require.Equal(t, delivery.ResultRetry, attempt.Result)
		require.Equal(t, delivery.LinkFallback, attempt.Link)
		if attempt.Answer != "" {
			kept++
		}
	}
	require.Equal(t, delivery.MaxAnswers, kept, "the oldest make room")
	require.NotEmpty(t, report.Attempts[delivery.MaxAttempts-1].Answer)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	require.Less(t, len(text), 64<<10, "it travels with each retry")
	var again delivery.Report
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, report, again)

	spec, err := timer.Admit(key, timer.Terms{Recurrence: &recurrence.Rule{Every: in(3600e9)}}, "b", noon)
	require.NoError(t, err)
	shown := spec.Shown(report.Attempts[:2], []byte("hello"), "run")
	require.Equal(t, []int{2, 1}, []int{shown[0].Number, shown[1].Number}, "the latest first")
	require.Equal(t, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", shown[0].BodySHA256)
	require.Equal(t, spec.WebhookID(), shown[0].WebhookID)
	require.Equal(t, 1, shown[0].Occurrence)
}

// A report stored beside part of its records becomes whole again, even if the store has changed.
func TestAttemptsArePutTogetherAgain(t *testing.T) {
	t.Parallel()
	var whole delivery.Report
	for n := 1; n <= delivery.MaxAnswers+5; n++ {
		whole = delivery.Report{Result: delivery.ResultRetry, Attempt: n}.Record(whole.Attempts, delivery.Attempt{Answer: "busy"})
	}
	kept := whole.WithoutRecords(12)
	require.Len(t, kept.Attempts, 3)
	require.Equal(t, 13, kept.Attempts[0].Number)
	for _, stored := range []int{12, 13, 15} {
		before := append([]delivery.Attempt{}, whole.Attempts[:stored]...)
		before[3].Answer = "busy" // it was one of the last ten
		require.Equal(t, whole, kept.Following(before), stored)
	}
	require.Len(t, whole.Attempts, delivery.MaxAnswers+5, "nothing was taken from it")
	require.Empty(t, whole.WithoutRecords(15).Attempts)
	require.Equal(t, whole.Attempts[:2], whole.WithoutRecords(15).Following(whole.Attempts[:2]).Attempts)
}

func TestWhatIsKeptOfAnAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "", "busy\r\n\tlater": "busy\r\n\tlater", "gr\u00fc\u00dfe": "gr\u00fc\u00dfe", "\x00\x01": "", "\xff\xfe": "", "\x1b[31mred": "",
		strings.Repeat("x", delivery.MaxAnswer+1):            strings.Repeat("x", delivery.MaxAnswer),
		strings.Repeat("x", delivery.MaxAnswer-1) + "\u20ac": strings.Repeat("x", delivery.MaxAnswer-1),
		strings.Repeat("x", delivery.MaxAnswer-3) + "\u20ac": strings.Repeat("x", delivery.MaxAnswer-3) + "\u20ac",
	} {
		require.Equal(t, want, delivery.Excerpted([]byte(body)), "%.20q", body)
	}
	require.Equal(t, "96ad2ccd", delivery.KeyID("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
}

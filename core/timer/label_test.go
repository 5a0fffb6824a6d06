package timer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	full := timer.Labels{}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", strings.Repeat("k", timer.MaxLabelKey)} {
		full[key] = strings.Repeat("v", timer.MaxLabelValue)
	}
	require.Empty(t, full.Check())
	full["i"] = "1"
	require.Equal(t, wire.FieldErrors{{Pointer: "", Code: wire.CodeTooLarge, Detail: "must have at most 8 labels"}}, full.Check())
	require.Empty(t, timer.Labels{"customer": "42", "mail": "a.b+c@shop.example", "0": "A=~:"}.Check())
	for _, key := range []string{"", "-a", "A", "a/b", "a=b", ":recurring", "ä", strings.Repeat("k", timer.MaxLabelKey+1)} {
		errs := timer.Labels{key: "1"}.Check()
		require.Len(t, errs, 1, key)
		require.Equal(t, wire.CodeInvalidLabel, errs[0].Code)
		require.Equal(t, "/"+strings.ReplaceAll(key, "/", "~1"), errs[0].Pointer)
	}
	for _, value := range []string{"", "a b", "ä", "a,b", "a'b", "♡", strings.Repeat("v", timer.MaxLabelValue+1)} {
		errs := timer.Labels{"customer": value}.Check()
		require.Len(t, errs, 1, value)
		require.Equal(t, wire.FieldError{Pointer: "/customer", Code: wire.CodeInvalidLabel,
			Detail: "must be 1 to 64 characters of A-Z a-z 0-9 . _ : ~ @ = + -"}, errs[0])
	}
}

func TestLabelsAreTermsLikeOthers(t *testing.T) {
	t.Parallel()
	labels := timer.Labels{"customer": "42", "env": "test"}
	booked, err := timer.Admit(key, timer.Terms{Delay: ptr(wire.Duration(0)), Labels: &labels}, "b", noon)
	require.NoError(t, err)
	require.Equal(t, labels, booked.Labels)
	require.Equal(t, []string{"customer=42", "env=test"}, booked.Keywords())

	change := func(replace bool, terms timer.Terms) timer.Labels {
		t.Helper()
		next, err := booked.Apply(timer.Change{Replace: replace, Terms: terms, At: wire.At(noon)})
		require.NoError(t, err)
		return next.Labels
	}
	later := ptr(wire.Duration(60_000_000_000))
	require.Equal(t, labels, change(false, timer.Terms{Delay: later}), "a PATCH that does not name them")
	require.Equal(t, timer.Labels{"env": "live"}, change(false, timer.Terms{Labels: &timer.Labels{"env": "live"}}), "replaced as a whole")
	require.Nil(t, change(false, timer.Terms{Labels: &timer.Labels{}}), "taken away")
	require.Nil(t, change(true, timer.Terms{Delay: later}), "a PUT that does not name them")

	_, err = timer.Admit(key, timer.Terms{Delay: later, Labels: &timer.Labels{"Customer": "42"}}, "b", noon)
	require.ErrorContains(t, err, "/labels/Customer")
	plain, same := timer.Terms{Delay: later}.Fingerprint(), timer.Terms{Delay: later, Labels: &labels}.Fingerprint()
	require.NotEqual(t, plain, same, "they are content")
	require.True(t, timer.Terms{}.IsZero())
	require.False(t, timer.Terms{Labels: &timer.Labels{}}.IsZero())
}

func TestARecurringTimerIsMarked(t *testing.T) {
	t.Parallel()
	booked, err := timer.Admit(key, timer.Terms{Recurrence: &recurrence.Rule{Every: ptr(wire.Duration(60_000_000_000))}, Labels: &timer.Labels{"a": "1"}}, "b", noon)
	require.NoError(t, err)
	require.Equal(t, []string{timer.KeywordRecurring, "a=1"}, booked.Keywords())
	require.Empty(t, timer.Memo{}.Keywords())
}

func TestLabelsHaveOthers(t *testing.T) {
	t.Parallel()
	labels := timer.Labels{"a": "1", "b": "2"}
	require.True(t, labels.Have(nil))
	require.True(t, labels.Have(timer.Labels{"b": "2"}))
	require.False(t, labels.Have(timer.Labels{"b": "1"}))
	require.False(t, labels.Have(timer.Labels{"b": "2", "c": ""}))
	require.False(t, timer.Labels{"a": "Ab"}.Have(timer.Labels{"a": "ab"}), "what SQLite takes to be the same")
}

package timer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func ptr[T any](v T) *T { return &v }

func in(d time.Duration) *wire.Duration { return ptr(wire.Duration(d)) }

func at(d time.Duration) *wire.Instant { return ptr(wire.At(noon.Add(d))) }

var key = wire.Key{BusinessType: "order-close", BusinessID: "o-1"}

func pointers(err error) (all []string) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		for _, fieldErr := range e.FieldErrors {
			all = append(all, fieldErr.Pointer)
		}
	}
	return all
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	spec, err := timer.Admit(key, timer.Terms{Delay: in(30 * time.Minute), ExpiresAfter: in(time.Hour)}, "b-1", noon)
	require.NoError(t, err)
	require.Equal(t, *at(30 * time.Minute), spec.DueAt)
	require.Equal(t, *at(90 * time.Minute), spec.Latest(0))
	require.Equal(t, 1, spec.Revision)
	require.Equal(t, policy.DefaultPriority, spec.Priority)
}

func TestAdmitRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		terms timer.Terms
		want  []string
	}{
		"neither time":       {timer.Terms{}, []string{"/due_at"}},
		"both times":         {timer.Terms{DueAt: at(time.Hour), Delay: in(time.Hour)}, []string{"/delay"}},
		"negative delay":     {timer.Terms{Delay: in(-time.Second)}, []string{"/delay"}},
		"delay too far":      {timer.Terms{Delay: in(wire.MaxAhead + 1)}, []string{"/delay"}},
		"due too far":        {timer.Terms{DueAt: at(wire.MaxAhead + time.Hour)}, []string{"/due_at"}},
		"due long ago":       {timer.Terms{DueAt: at(-25 * time.Hour)}, []string{"/due_at"}},
		"latest passed":      {timer.Terms{DueAt: at(-time.Hour), LatestAt: at(-time.Minute)}, []string{"/latest_at"}},
		"latest before due":  {timer.Terms{DueAt: at(time.Hour), LatestAt: at(time.Minute)}, []string{"/latest_at"}},
		"latest at the due":  {timer.Terms{DueAt: at(time.Hour), LatestAt: at(time.Hour)}, []string{"/latest_at"}},
		"both latest":        {timer.Terms{Delay: in(0), LatestAt: at(time.Hour), ExpiresAfter: in(1e9)}, []string{"/expires_after"}},
		"expired already":    {timer.Terms{DueAt: at(-time.Hour), ExpiresAfter: in(time.Minute)}, []string{"/expires_after"}},
		"priority":           {timer.Terms{Delay: in(0), Priority: ptr(6)}, []string{"/priority"}},
		"payload too large":  {timer.Terms{Delay: in(0), Payload: &timer.Payload{Data: make([]byte, timer.MaxPayload+1)}}, []string{"/payload"}},
		"base64 untyped":     {timer.Terms{Delay: in(0), Payload: &timer.Payload{Base64: true}}, []string{"/content_type"}},
		"everything at once": {timer.Terms{Delay: in(-1), Priority: ptr(0), Retry: &delivery.Retry{}, Callback: &delivery.Callback{Destination: delivery.HTTP("x")}}, []string{"/delay", "/callback/url", "/retry/initial", "/priority"}},
	}
	for name, c := range cases {
		_, err := timer.Admit(key, c.terms, "b-1", noon)
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), name)
		require.Equal(t, c.want, pointers(err), name)
	}
}

func TestPastWithinADayIsAdmitted(t *testing.T) {
	t.Parallel()
	spec, err := timer.Admit(key, timer.Terms{DueAt: at(-23 * time.Hour)}, "b-1", noon)
	require.NoError(t, err)
	require.Equal(t, *at(-23 * time.Hour), spec.DueAt, "the receiver is told the nominal time")
}

func TestApplyMoves(t *testing.T) {
	t.Parallel()
	spec, err := timer.Admit(key, timer.Terms{Delay: in(time.Hour), ExpiresAfter: in(time.Minute), Priority: ptr(1)}, "b-1", noon)
	require.NoError(t, err)
	moved, err := spec.Apply(timer.Change{Terms: timer.Terms{Delay: in(2 * time.Hour)}, At: wire.At(noon), Fingerprint: "f"})
	require.NoError(t, err)
	require.Equal(t, *at(2 * time.Hour), moved.DueAt)
	require.Equal(t, *at(2*time.Hour + time.Minute), moved.Latest(0), "the latest time moves along")
	require.Equal(t, 1, moved.Priority, "what is not named stays")
	require.Equal(t, 2, moved.Revision)
	require.Equal(t, spec.WebhookID(), moved.WebhookID(), "a move is the same delivery")

	replaced, err := moved.Apply(timer.Change{Replace: true, Terms: timer.Terms{Delay: in(time.Hour)}, At: wire.At(noon)})
	require.NoError(t, err)
	require.Equal(t, policy.DefaultPriority, replaced.Priority, "what is not named goes back to its default")
	require.Zero(t, replaced.Latest(0))

	_, err = moved.Apply(timer.Change{Terms: timer.Terms{LatestAt: at(time.Hour)}, At: wire.At(noon)})
	require.Equal(t, []string{"/latest_at"}, pointers(err))
}

func TestLatestFallsBackToThePolicy(t *testing.T) {
	t.Parallel()
	spec, err := timer.Admit(key, timer.Terms{Delay: in(time.Hour)}, "b-1", noon)
	require.NoError(t, err)
	require.Zero(t, spec.Latest(0))
	require.Equal(t, *at(2 * time.Hour), spec.Latest(wire.Duration(time.Hour)))
}

func TestWebhookID(t *testing.T) {
	t.Parallel()
	one, err := timer.Admit(key, timer.Terms{Delay: in(0)}, "b-1", noon)
	require.NoError(t, err)
	again, err := timer.Admit(key, timer.Terms{Delay: in(0)}, "b-2", noon)
	require.NoError(t, err)
	require.NotEqual(t, one.WebhookID(), again.WebhookID(), "another booking is another delivery")
	require.NotContains(t, one.WebhookID(), ".", "Standard Webhooks signs id.timestamp.body")
	require.True(t, strings.HasPrefix(one.WebhookID(), "msg_"))
	require.True(t, timer.IsMessageID(one.WebhookID()))
	for _, other := range []string{"", "msg_1", strings.ToUpper(one.WebhookID()), one.WebhookID() + "a", one.WebhookID() + "\n"} {
		require.False(t, timer.IsMessageID(other), "%q", other)
	}
}

func TestFingerprintTellsContent(t *testing.T) {
	t.Parallel()
	base := timer.Terms{Delay: in(time.Hour), Payload: &timer.Payload{Data: []byte(`{"a":1}`)}}
	require.Equal(t, base.Fingerprint(), timer.Terms{Delay: in(time.Hour), Payload: &timer.Payload{Data: []byte(`{"a":1}`)}}.Fingerprint())
	for name, other := range map[string]timer.Terms{
		"delay":   {Delay: in(time.Minute), Payload: base.Payload},
		"payload": {Delay: in(time.Hour), Payload: &timer.Payload{Data: []byte(`{"a": 1}`)}},
		"no body": {Delay: in(time.Hour)},
		"form":    {DueAt: at(time.Hour), Payload: base.Payload},
	} {
		require.NotEqual(t, base.Fingerprint(), other.Fingerprint(), name)
	}
}

// A Spec is read by the code of years to come. This one was booked by the first release, and
// must always read the same.
func TestFirstSpecStillReads(t *testing.T) {
	t.Parallel()
	const first = `{"business_type":"order-close","business_id":"o-1","booking":"b-1","revision":1,"due_at":"2026-11-21T12:30:00.000Z",` +
		`"latest_at":"2026-11-21T13:00:00.000Z","priority":3,"created_at":"2026-11-21T12:00:00.000Z","fingerprint":"f",` +
		`"content_type":"application/json","callback":{"url":"https://example.com/","headers":{"X-A":"sealed:v1:x"},"timeout":"10s"},` +
		`"retry":{"steps":["1s"]},"behaviour":1}`
	var spec timer.Spec
	require.NoError(t, json.Unmarshal([]byte(first), &spec))
	again, err := json.Marshal(spec)
	require.NoError(t, err)
	require.JSONEq(t, first, string(again))
	require.Equal(t, "o-1", spec.BusinessID)
	require.Equal(t, wire.At(noon.Add(time.Hour)), spec.LatestAt)
}

func FuzzApply(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), true)
	f.Fuzz(func(t *testing.T, delay, latest, expires int64, replace bool) {
		spec, err := timer.Admit(key, timer.Terms{Delay: in(time.Hour)}, "b", noon)
		require.NoError(t, err)
		terms := timer.Terms{Delay: ptr(wire.Duration(delay)), LatestAt: ptr(wire.Instant(latest)), ExpiresAfter: ptr(wire.Duration(expires))}
		if len(terms.Check(noon)) > 0 {
			return
		}
		changed, err := spec.Apply(timer.Change{Terms: terms, Replace: replace, At: wire.At(noon)})
		if err == nil && changed.Latest(0) != 0 && changed.Latest(0) < changed.DueAt {
			t.Fatalf("latest %s before due %s", changed.Latest(0), changed.DueAt)
		}
	})
}

// Everything between workflow and activity must read back, with any field set.
func TestReportsReadBack(t *testing.T) {
	t.Parallel()
	for _, report := range []delivery.Report{
		{}, {Result: delivery.ResultUseQueue}, {Result: delivery.ResultElsewhere, Worker: "w"},
		{Result: delivery.ResultRetry, Attempt: 1, EndedAt: wire.At(noon), Failure: &delivery.Failure{Message: "x"}},
	} {
		raw, err := json.Marshal(report)
		require.NoError(t, err)
		var again delivery.Report
		require.NoError(t, json.Unmarshal(raw, &again), "%s", raw)
		require.Equal(t, report, again)
	}
	raw, err := json.Marshal(timer.Outcome{Status: timer.Failed})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &timer.Outcome{}), "%s", raw)
}

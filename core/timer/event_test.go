package timer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

func TestWhoIsToldOfAnEvent(t *testing.T) {
	t.Parallel()
	to := func(url string) *delivery.Alert { return &delivery.Alert{Destination: delivery.HTTP(url)} }
	p := policy.Policy{Alert: to("alert"), OnDelivered: to("good"), OnFailed: to("bad")}
	own := delivery.HTTP("own")
	for want, event := range map[string]timer.Event{
		"alert": {Type: timer.EventFailed}, "good": {Type: timer.EventDelivered, Outcome: true}, "bad": {Type: timer.EventExpired, Outcome: true},
		"own": {Type: timer.EventFailed, Outcome: true, Own: &own},
	} {
		got, ok := event.Recipient(p)
		require.True(t, ok)
		require.Equal(t, want, got.URL)
		require.Equal(t, timer.Event{Type: event.Type}, event.Sent())
		_, ok = event.Recipient(policy.Policy{})
		require.Equal(t, want == "own", ok)
	}
	errs := policy.Policy{BusinessType: "x", OnDelivered: to("ftp://x"), OnFailed: to("")}.Check()
	require.Equal(t, []string{"/on_delivered/url", "/on_failed/url"}, pointers(errs.Err()))
}

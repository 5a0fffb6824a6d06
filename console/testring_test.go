package console_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

// A test event says what the receiver answered. Its answer is for who may see payloads.
func TestATestEvent(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("blind", "blind", ":operator+no-payloads")), secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	h.shelf.tested = delivery.TestResult{
		WebhookID: "msg_7", Status: http.StatusServiceUnavailable, Class: delivery.Answered, SentAt: 1, TookMS: 12, Signed: true, Answer: "</pre><script>out of order",
		TLS: &delivery.TLSSeen{Version: "TLS 1.3", Subject: "CN=orders", Until: wire.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))},
	}
	h.signIn("anna")
	require.Contains(t, h.get(typePage).body, `action="`+typePage+`/test"`)
	page := h.post(typePage+"/test", url.Values{"link": {"callback"}})
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	for _, said := range []string{"did not take it", "<dd>HTTP 503</dd>", "took 12 ms", "TLS 1.3", "CN=orders", "&lt;/pre&gt;&lt;script&gt;out of order"} {
		require.Contains(t, page.body, said)
	}
	require.Equal(t, []string{"test order-close callback"}, h.shelf.changes())
	require.Equal(t, http.StatusUnprocessableEntity, h.post(typePage+"/test", url.Values{"link": {"elsewhere"}}).StatusCode)
	h.signIn("blind")
	blind := h.post(typePage+"/test", nil).body
	require.NotContains(t, blind, "out of order")
	require.Contains(t, blind, "What it answered is shown with the right to see payloads.")
	require.NotContains(t, page.body, "with the right to see payloads")
	h.signIn("eve")
	require.NotContains(t, h.get(typePage).body, `action="`+typePage+`/test"`)
}

// While the callbacks of a type are held back there is no button, and a line that says so.
func TestNoTestEventWhileHeldBack(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	offered := func() (button, why bool) {
		page := h.get(typePage).body
		return containsText(page, `action="`+typePage+`/test"`), containsText(page, "A test event can be sent once its callbacks are held back no more.")
	}
	requireOffered := func(want bool, because string) {
		button, why := offered()
		require.Equal(t, want, button, because)
		require.Equal(t, !want, why, because)
	}
	h.shelf.rules = []policy.Policy{closing()}
	requireOffered(true, "it runs")
	h.shelf.paused = []policy.Emergency{{BusinessType: "order-close", Author: "dora", Since: 1}}
	requireOffered(false, "emergency")
	h.shelf.paused = nil
	h.shelf.rules[0].BackPressure = &policy.BackPressure{Since: wire.At(h.now.Add(-time.Minute)), Until: wire.At(h.now.Add(time.Minute))}
	requireOffered(false, "back-pressure")
	h.shelf.rules[0].BackPressure, h.shelf.rules[0].Paused = nil, true
	requireOffered(false, "policy")
}

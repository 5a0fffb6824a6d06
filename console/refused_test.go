package console_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/internal/seal"
)

// told is what a record of a refusal says, but for when and from where.
type told struct {
	who, operation string
	target         trail.Target
	action         any
	status         int
	problem        wire.Code
}

// refusals are the records that a step leaves. All of them are refusals.
func (h *harness) refusals(step func()) (all []told) {
	h.t.Helper()
	before := len(h.records())
	step()
	for _, r := range h.records()[before:] {
		require.Equal(h.t, trail.Refused, r.Outcome)
		require.NotEmpty(h.t, r.From)
		require.NotEmpty(h.t, r.RequestID)
		one := told{operation: r.Operation(), target: r.Target, status: r.Status, problem: r.Problem}
		if r.Who != nil {
			require.Equal(h.t, "console", r.Who.Via)
			one.who = r.Who.Name
		}
		if len(r.Changes) > 0 {
			require.Equal(h.t, "action", r.Changes[0].Field)
			one.action = r.Changes[0].To
		}
		all = append(all, one)
	}
	return all
}

// Of several timers each that is not changed has its record: that of the API where it refuses, and that of
// the console where nothing is sent.
func TestEachRefusedRowIsRecorded(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	rows := url.Values{"sure": {"yes"}, "row": {"order-close/1 1 0 msg_1", "order-close/1 9 0 msg_1", "order-close/gone 1 0 msg_2", "invoice/1 1 0 msg_3"}}
	for action, operation := range map[string]string{
		"cancel": "DELETE /v1/timers/:type/:id", "move": "PATCH /v1/timers/:type/:id", "fire": "POST /v1/timers/:type/:id/fire", "redeliver": "POST /v1/timers/:type/:id/redeliver",
	} {
		rows.Set("action", action)
		h.signIn("eve")
		const selected = "POST /console/timers/selected"
		one, gone, foreign := trail.Target{BusinessType: "order-close", BusinessID: "1"}, trail.Target{BusinessType: "order-close", BusinessID: "gone"}, trail.Target{BusinessType: "invoice", BusinessID: "1"}
		require.ElementsMatch(t, []told{
			{"eve", operation, one, nil, http.StatusForbidden, "forbidden"},
			{"eve", selected, one, action, http.StatusPreconditionFailed, "precondition-failed"},
			{"eve", selected, gone, action, http.StatusNotFound, "not-found"},
			{"eve", selected, foreign, action, http.StatusNotFound, "not-found"},
		}, h.refusals(func() { require.Contains(t, h.post("/console/timers/selected", rows).body, "Done with 0 of 4.") }), action)
		h.signIn("otto")
		require.Contains(t, h.refusals(func() { h.post("/console/timers/selected", rows) }), told{"otto", operation, one, nil, http.StatusForbidden, "forbidden"})
	}
	require.Empty(t, h.shelf.changes())
	rows.Set("action", "explode")
	require.Equal(t, []told{{"otto", "POST /console/timers/selected", trail.Target{}, nil, http.StatusBadRequest, "malformed-request"}},
		h.refusals(func() { h.post("/console/timers/selected", rows) }))
	rows.Set("action", "cancel")
	rows.Del("sure")
	require.Empty(t, h.refusals(func() { h.post("/console/timers/selected", rows) }), "who is asked was not refused")
}

// Who may not read a policy or a job may not change it, and that is recorded. Who may read it is told what
// is missing.
func TestWhatMayNotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{withSecondLink(closing())}
	h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
	h.signIn("otto")
	for _, form := range []string{"back", "links"} {
		require.Equal(t, []told{{"otto", "PUT /v1/policies/:type", trail.Target{BusinessType: "order-close"}, nil, http.StatusForbidden, "forbidden"}},
			h.refusals(func() { h.post(typePage+"/"+form, policyForm("version", "1")) }), form)
	}
	require.Equal(t, []told{{"otto", "POST /console/jobs/:id/go", trail.Target{ID: "count"}, nil, http.StatusNotFound, "not-found"}},
		h.refusals(func() { h.post("/console/jobs/count/go", nil) }), "for otto there is no such job")
	require.Equal(t, []told{{"otto", "DELETE /v1/bulk/:id", trail.Target{BusinessType: "order-close", ID: "count"}, nil, http.StatusNotFound, "not-found"}},
		h.refusals(func() { h.post("/console/jobs/count/stop", nil) }))
	h.signIn("eve")
	require.Equal(t, []told{{"eve", "POST /v1/bulk", trail.Target{BusinessType: "order-close"}, nil, http.StatusForbidden, "forbidden"}}, h.refusals(func() {
		answer := h.post("/console/jobs/count/go", nil)
		require.Equal(t, http.StatusForbidden, answer.StatusCode)
		require.Contains(t, answer.body, "The call needs the role operator")
		require.NotContains(t, answer.body, "not counted")
	}))
	require.Empty(t, h.shelf.changes())
}

// What the console itself refuses leaves one record: a form of another site, one over plain HTTP, one where
// nothing may be changed, and one that no session came with.
func TestWhatTheConsoleRefusesIsRecorded(t *testing.T) {
	t.Parallel()
	const fire, operation = "/console/timers/order-close/1/fire", "POST /console/timers/:type/:id/:action"
	one, everything := trail.Target{BusinessType: "order-close", BusinessID: "1"}, trail.Target{Everything: true}
	tag := tagOf(viewOf(timer.Scheduled))
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	require.Equal(t, []told{{"", operation, one, "fire", http.StatusUnauthorized, "unauthorized"}}, h.refusals(func() { h.post(fire, tag) }))
	h.signIn("root")
	require.Equal(t, []told{{"root", operation, one, "fire", http.StatusForbidden, "forbidden"}},
		h.refusals(func() { h.post(fire, tag, "Origin", "https://evil.example") }))
	require.Equal(t, []told{{"root", operation, one, "fire", http.StatusForbidden, "forbidden"}}, h.refusals(func() {
		h.post(fire, tag, "Host", "wakecall.example", "Cookie", h.session().String())
	}), "over plain HTTP")
	require.Empty(t, h.refusals(func() {
		h.post("/console/preferences", url.Values{"theme": {"dark"}}, "Origin", "https://evil.example")
		h.get("/console/nowhere")
		h.post("/console/nowhere", nil)
	}), "what changes nothing")

	long := "" // an answer that does not wait until its record is made, however it is packed
	for range 400 {
		long += rand.Text()
	}
	shown := open(t, plan{keys: staff, secret: seal.NewKey(), mode: site.ReadOnly, look: site.Look{Contact: long}})
	shown.signIn("root")
	require.Equal(t, []told{
		{"root", operation, one, "fire", http.StatusForbidden, "forbidden"},
		{"root", "POST /console/jobs/:id/stop", trail.Target{ID: "j"}, nil, http.StatusForbidden, "forbidden"},
		{"root", "POST /console/emergency/:action", everything, "pause", http.StatusForbidden, "forbidden"},
		{"root", "POST /console/emergency/:action", trail.Target{BusinessType: "invoice"}, "resume", http.StatusForbidden, "forbidden"},
		{"root", "POST /console/types/:type/edit", trail.Target{BusinessType: "order-close"}, nil, http.StatusForbidden, "forbidden"},
	}, shown.refusals(func() {
		shown.post(fire, tag)
		shown.post("/console/jobs/j/stop", nil)
		shown.post("/console/emergency/pause", url.Values{"note": {"all"}})
		shown.post("/console/emergency/resume", url.Values{"business_type": {"invoice"}})
		shown.post(typePage+"/edit", nil)
	}))
	require.Contains(t, shown.get("/console/audit").body, "<code>"+operation+"</code>")

	asked := open(t, plan{})
	require.Equal(t, []told{{"", "POST /console/*", trail.Target{}, nil, http.StatusForbidden, "forbidden"}},
		asked.refusals(func() { asked.post(fire, tag, "Origin", "https://evil.example") }), "where no key is asked for")
	for _, each := range []*harness{h, shown, asked} {
		require.Empty(t, each.shelf.changes())
	}
}

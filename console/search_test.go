package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/seal"
)

const (
	runOf  = "0199b2c4-1d2e-7f30-8a41-5b6c7d8e9f01"
	ringOf = "msg_2t5rq4nzk3xw7yh6jd7mbcvp5e"
)

func found(answer reply) string { return answer.Header.Get("Location") }

// One box finds a timer by each of its ids: the client's own first.
func TestATimerIsFoundByEachID(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	view := viewOf(timer.Scheduled)
	h.shelf.views, h.shelf.named = []timer.View{view}, map[timers.Named]timer.View{{RunID: runOf}: view, {WebhookID: ringOf}: view}
	for _, word := range []string{"1", "order-close/1", runOf, ringOf, "type:order-close 1"} {
		require.Equal(t, "/console/timers/order-close/1", found(h.get(list+"?q="+url.QueryEscape(word))), word)
	}
	own := view
	own.BusinessID = runOf
	h.shelf.views = append(h.shelf.views, own)
	require.Equal(t, "/console/timers/order-close/"+runOf, found(h.get(list+"?q="+runOf)), "an id of the client's own comes first")
	own.BusinessType = "refund"
	h.shelf.views = append(h.shelf.views, own)
	both := h.get(list + "?q=" + runOf)
	require.Equal(t, http.StatusOK, both.StatusCode, "two are a list")
	require.Contains(t, both.body, "refund</span>/<span>"+runOf)
}

// An id that reads like a qualifier is found in quotes. Without them it is a qualifier: no booking takes a
// search of the operators away.
func TestAnIDThatReadsLikeAQualifier(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for _, id := range []string{"status:failed", "type:zz", "is:late"} {
		odd := viewOf(timer.Scheduled)
		odd.BusinessID = id
		h.shelf.views = []timer.View{odd}
		require.Equal(t, "/console/timers/order-close/"+url.PathEscape(id), found(h.get(list+"?q="+url.QueryEscape(`"`+id+`"`))), id)
		require.Equal(t, http.StatusOK, h.get(list+"?q="+url.QueryEscape(id)).StatusCode, id)
	}
}

// A search without a match says what was looked for.
func TestASearchWithoutAMatch(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for word, tried := range map[string][]string{
		"4711":             {"the id of a timer"},
		"order-close/4711": {"the type and id"},
		runOf:              {"the id of a timer", "the id of a run in Temporal"},
		ringOf:             {"the id of a timer", "the webhook id of a delivery"},
	} {
		shown := h.get(list + "?q=" + word)
		require.Equal(t, http.StatusOK, shown.StatusCode)
		require.Contains(t, shown.body, "No timer is found by: "+word)
		require.Equal(t, len(tried), strings.Count(shown.body, "<li>the "), word)
		for _, one := range tried {
			require.Contains(t, shown.body, "<li>"+one, word)
		}
	}
}

// Without lists an id still finds its timer, of whichever type that is known.
func TestAnIDIsFoundWithoutLists(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("root")
	h.shelf.views, h.shelf.rules = []timer.View{viewOf(timer.Scheduled)}, []policy.Policy{closing(), {BusinessType: "refund"}}
	h.get("/console/types") // the types are known
	h.shelf.listless = true
	require.Equal(t, "/console/timers/order-close/1", found(h.get(list+"?q=1")))
	require.Equal(t, "/console/timers/order-close/1", found(h.get(list+"?q=order-close/1")))
	missed := h.get(list + "?q=2")
	require.Equal(t, http.StatusServiceUnavailable, missed.StatusCode)
	require.Contains(t, missed.body, "the id of a timer")
}

// Who sees some types only searches in them, and finds nothing of others.
func TestASearchInSomeTypes(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	hidden := viewOf(timer.Scheduled)
	hidden.Key = wire.Key{BusinessType: "refund", BusinessID: "2"}
	h.shelf.views, h.shelf.rules = []timer.View{viewOf(timer.Scheduled), hidden}, []policy.Policy{closing(), {BusinessType: "refund"}}
	h.shelf.named = map[timers.Named]timer.View{{RunID: runOf}: hidden}
	h.signIn("anna") // an operator of order-*
	require.Equal(t, "/console/timers/order-close/1", found(h.get(list+"?q=1")))
	for _, word := range []string{"2", runOf} {
		require.Contains(t, h.get(list+"?q="+word).body, "No timer is found by", word)
	}
	h.shelf.asked = nil
	all := h.get(list + "?q=is:recurring").body
	require.Contains(t, all, "order-close</span>/<span>1")
	require.NotContains(t, all, "refund")
	require.NotContains(t, all, `action="/console/jobs"`, "no job selects the timers of some types")
	require.True(t, slices.ContainsFunc(h.shelf.requests(), func(r timers.PageRequest) bool { return r.Filter.Recurring }))
}

// The views that no single question finds are asked for one after the other, page by page.
func TestLateAndHeld(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Delivering)}
	h.shelf.rules = []policy.Policy{{BusinessType: "order-close", Paused: true}, {BusinessType: "refund"}}
	asked := func(search string) (all []string) {
		h.get("/console/") // a look asks for itself
		h.shelf.asked = nil
		page := h.get(list + "?q=" + search)
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.NotContains(t, page.body, `action="/console/jobs"`, "no job selects them")
		for _, r := range h.shelf.requests() {
			if r.Size >= 48 && r.Size <= 50 {
				all = append(all, fmt.Sprint(r.Filter.Status, " ", r.Filter.BusinessType, r.Filter.DueTo != 0))
			}
		}
		return all
	}
	require.Equal(t, []string{"delivering true", "scheduled true"}, asked("is:late"))
	require.Equal(t, []string{"paused false", "delivering order-closefalse"}, asked("is:held"))
	require.Equal(t, []string{"paused refundfalse"}, asked("is:held+type:refund"))
	h.shelf.paused = []policy.Emergency{{BusinessType: "stray", Author: "dora", Since: 1}}
	require.Equal(t, []string{"paused false", "delivering order-closefalse", "delivering strayfalse"}, asked("is:held"))
	require.Equal(t, []string{"paused strayfalse", "delivering strayfalse"}, asked("is:held+type:stray"))
	h.shelf.paused = []policy.Emergency{{Everything: true, Author: "dora", Since: 1}}
	require.Equal(t, []string{"paused false", "delivering false"}, asked("is:held"), "of all types, known or not")
	h.shelf.paused = nil
	for _, wrong := range []string{"is:late+status:failed", "is:held+is:late", "is:gone", "is:late+due:1h"} {
		require.Contains(t, h.get(list+"?q="+wrong).body, "not understood", wrong)
	}
	h.shelf.next = []byte("more")
	h.shelf.views = slices.Repeat(h.shelf.views, 50)
	first := h.get(list + "?q=is:late").body
	require.Contains(t, first, "!", "the next page begins with the times of this one")
}

// What may be typed is suggested, as far as somebody sees it.
func TestHints(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing(), {BusinessType: "refund"}}
	h.signIn("anna")
	page := h.get("/console/health").body
	require.Contains(t, page, `<option value="type:order-close">`)
	require.Contains(t, page, `<option value="is:late">`)
	require.NotContains(t, page, "refund")
}

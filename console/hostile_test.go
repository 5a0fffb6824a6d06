package console_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

// stocked is a gateway with one of everything that the requests of the route table name.
func stocked(t *testing.T, p plan) *harness {
	t.Helper()
	h := open(t, p)
	h.restock()
	return h
}

// restock puts back what a change has taken.
func (h *harness) restock() {
	h.shelf.mu.Lock()
	defer h.shelf.mu.Unlock()
	h.shelf.views = []timer.View{dailyOf(viewOf(timer.Scheduled))}
	h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
	h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Running)}
	linked := closing()
	linked.Fallback = &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP("https://second.example.com")}}
	h.shelf.rules = []policy.Policy{linked}
}

// unreadable are texts that no client of the API could send, and a browser may.
var unreadable = append(slices.Clone(hostile), "\xff\xfe", "a\r\nX-Evil: 1", "\u2028", "9e999", "-1", "null", `{"a":1}`, "1/../../2", "＜script＞")

// worst are those that each field and each place has by itself. The others stand in all of them at once.
var worst = []string{`</script><script>alert(1)</script>`, "%2F/../?#", "\xff\xfe"}

// Whatever stands in any field of any form is refused or is text. Nothing breaks.
func TestHostileFields(t *testing.T) {
	detector.SkipSweep(t)
	t.Parallel()
	h := stocked(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	h.signIn("root")
	for name, r := range routeRules(tagOf(h.shelf.views[0])) {
		if r.form == nil {
			continue
		}
		check := func(field, text string, form url.Values) {
			h.restock()
			answer := h.post(r.path, form)
			require.Less(t, answer.StatusCode, http.StatusInternalServerError, "%s: %s is %.40q: %.300s", name, field, text, answer.body)
			require.Empty(t, active(answer.body), "%s: %s is %.40q", name, field, text)
			require.Empty(t, answer.Header.Get("X-Evil"))
			require.NotContains(t, answer.Header.Get("Location"), "//", "%s: %s is %.40q", name, field, text)
		}
		fields := slices.AppendSeq([]string{"note", "q", "page_token", "next"}, maps.Keys(r.form))
		for _, text := range unreadable {
			all := url.Values{}
			for _, field := range fields {
				all.Set(field, text)
			}
			check("each field", text, all)
		}
		for _, field := range fields {
			for _, text := range worst {
				form := maps.Clone(r.form)
				form.Set(field, text)
				check(field, text, form)
			}
		}
	}
}

// Whatever stands in the place of a name in any path, or in what a page is asked for, is text or not there.
func TestHostilePlaces(t *testing.T) {
	detector.SkipSweep(t)
	t.Parallel()
	h := stocked(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	h.signIn("root")
	for name, r := range routeRules(tagOf(h.shelf.views[0])) {
		path, _, _ := strings.Cut(r.path, "?")
		var asked []string
		for _, text := range unreadable {
			if len(text) < 60<<10 { // a longer one is no request at all
				asked = append(asked, path+"?"+askedFor(text).Encode())
			}
		}
		for _, text := range worst {
			for _, part := range strings.Split(path, "/")[2:] {
				if part != "" {
					asked = append(asked, strings.Replace(path, "/"+part, "/"+url.PathEscape(text), 1))
				}
			}
		}
		for _, one := range asked {
			answer := h.send(strings.Fields(name)[0], one, r.form)
			require.Less(t, answer.StatusCode, http.StatusInternalServerError, "%s: %.90s: %.300s", name, one, answer.body)
			require.Empty(t, active(answer.body), "%s: %.90s", name, one)
		}
	}
}

// askedFor are all words that the query of a page may have.
func askedFor(text string) url.Values {
	query := url.Values{}
	for _, name := range []string{"q", "at", "range", "type", "limit", "page_token", "col", "done", "lang", "next", "business_type", "page"} {
		query.Set(name, text)
	}
	return query
}

// The oracle of both sees what is not text.
func TestWhatIsNoTextIsSeen(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`<p>x<script>alert(1)</script>`, `<img src=x onerror="alert(1)">`, `<a href="javascript:alert(1)">`, `<p onmouseover='alert(1)'>`} {
		require.NotEmpty(t, active(text), text)
	}
}

// No form is taken from another origin, whichever it is, and one that is changes nothing.
func TestFormsOfOtherOrigins(t *testing.T) {
	t.Parallel()
	h := stocked(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("root")
	rules := routeRules(tagOf(h.shelf.views[0]))
	for _, route := range console.Routes() {
		open, posts := strings.CutPrefix(route.Name, "POST ")
		if !posts {
			continue
		}
		path, form := rules[route.Name].path, rules[route.Name].form
		if path == "" { // it asks for no sign-in
			path, form = "/console/"+open, url.Values{"key": {"root"}}
		}
		for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
			answer := h.post(path, form, header...)
			require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s from %s", route.Name, header)
			require.Empty(t, answer.Cookies(), route.Name)
		}
		require.Empty(t, h.shelf.changes(), route.Name)
		if route.Changes {
			require.Less(t, h.post(path, form, "Sec-Fetch-Site", "same-origin").StatusCode, http.StatusBadRequest, "%s: the control", route.Name)
			require.NotEmpty(t, h.shelf.changes(), "%s: the control", route.Name)
			h.shelf.changed = nil
			h.restock()
		}
	}
}

// A rule that never rings, rings all the time, or is a long way to its next time, is answered at once.
func TestRulesThatExplode(t *testing.T) {
	t.Parallel()
	h := stocked(t, plan{})
	tag := tagOf(h.shelf.views[0])["etag"]
	for rule, want := range map[string]int{
		`{"cron":"0 0 30 2 *"}`:                                               http.StatusUnprocessableEntity,
		`{"cron":"0 0 29 2 1","timezone":"Asia/Shanghai"}`:                    http.StatusOK,
		`{"cron":"* * * * * *","seconds":true}`:                               http.StatusOK,
		`{"every":"1ns"}`:                                                     http.StatusUnprocessableEntity,
		`{"every":"999999h","end_at":"9999-12-31T23:59:59Z"}`:                 http.StatusUnprocessableEntity,
		`{"cron":"` + strings.Repeat("0,", 10<<10) + `0 * * * *"}`:            http.StatusUnprocessableEntity,
		`{"crons":[` + strings.Repeat(`"* * * * *",`, 999) + `"x"]}`:          http.StatusUnprocessableEntity,
		`{"cron":"*/7 * * * *","exclude":["*/7 * * * *"]}`:                    http.StatusUnprocessableEntity,
		`{"at":[` + strings.Repeat(`"2027-01-01T00:00:00Z",`, 1001) + `"x"]}`: http.StatusUnprocessableEntity,
		strings.Repeat("[", 20<<10):                                           http.StatusUnprocessableEntity,
	} {
		began := time.Now()
		answer := h.post(timerPath+"/rule", url.Values{"etag": tag, "rule": {rule}})
		require.Equal(t, want, answer.StatusCode, "%.60s: %.500s", rule, answer.body)
		require.Less(t, time.Since(began), 30*time.Second, "%.60s", rule)
		require.Empty(t, h.shelf.changes())
	}
}

package console_test

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/seal"
)

var listHeading = regexp.MustCompile(`<h1>Timers(?: <small>(.*?)</small>)?</h1>`)

var nextLink = regexp.MustCompile(`<a href="([^"]*)" rel="next">`)

// totalOf is what stands beside the title of a list.
func (h *harness) totalOf(search string) string {
	h.t.Helper()
	said := listHeading.FindStringSubmatch(h.get(list + "?" + url.Values{"q": {search}}.Encode()).body)
	require.Len(h.t, said, 2, search)
	return said[1]
}

// A list never says that it has fewer timers than it shows: what is counted may be older than the list.
func TestTheTotalOfAList(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("root")
	h.shelf.views = slices.Repeat([]timer.View{viewOf(timer.Delivering)}, 3)
	h.shelf.rules, h.shelf.unnamed = []policy.Policy{closing(), {BusinessType: "refund"}}, 10
	for _, search := range []string{"", "status:delivering", "type:order-close", "is:recurring", "label:a=1", "due:1h", "is:late", "type:order-close ended:1h"} {
		require.Equal(t, "3", h.totalOf(search), "a list of one page tells it by itself: %s", search)
	}
	delivering := h.shelf.views
	h.shelf.views = append(slices.Clone(delivering), slices.Repeat([]timer.View{viewOf(timer.Scheduled)}, 2)...)
	require.Equal(t, "5", h.totalOf("is:late"), "of two questions")
	h.shelf.views = delivering
	require.Empty(t, h.totalOf("type:invoice"), "the page says that there is none")

	h.shelf.next = []byte("more")
	for search, want := range map[string]string{
		"status:delivering":                  `3 and more`, // of which none was counted
		"type:order-close status:delivering": `3 and more`,
		"is:recurring":                       `3 and more`,
		"label:a=1":                          `3 and more`,
		"due:1h":                             `3 and more`,
		"type:order-close":                   `3,333`,
		"type:order-close status:scheduled":  `3,333`,
		"status:scheduled":                   `6,676 As of <time .*</time>`, // with those of types without a policy
	} {
		if h.shelf.views = delivering; strings.Contains(search, "status:scheduled") {
			h.shelf.views = slices.Repeat([]timer.View{viewOf(timer.Scheduled)}, 3)
		}
		require.Regexp(t, "^"+want+"$", h.totalOf(search), search)
	}
	h.shelf.views = delivering
	next := nextLink.FindStringSubmatch(h.get(list + "?q=label:a=1").body)
	require.Len(t, next, 2)
	later := h.get(html.UnescapeString(next[1])).body
	require.Contains(t, later, "<small>53 and more</small>", "the page before was full")

	h.signIn("anna") // an operator of order-*
	h.shelf.views = slices.Repeat([]timer.View{viewOf(timer.Scheduled)}, 3)
	require.Regexp(t, `^3,333 As of `, h.totalOf("status:scheduled"), "of the types that are hers")
}

// Figures that are counted now and then say from when they are.
func TestCountsSayTheirAge(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules, h.shelf.unnamed = []policy.Policy{closing()}, 10
	for _, path := range []string{"/console/", "/console/types/order-close"} {
		require.Regexp(t, `</ul><small> As of <time [^>]*>[^<]+</time></small>`, h.get(path).body, path)
	}
	require.Regexp(t, `</table></div><small> As of <time `, h.get("/console/types").body)
	require.Contains(t, h.get("/console/").body, "3,343</strong> <span>scheduled", "of types without a policy too, as its list has them")
}

// A list of what failed in a time says that it lacks what was redelivered since: plots count that where it failed.
func TestAListOfFailuresSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	shown := func(search string) string { return h.get(list + "?" + url.Values{"q": {search}}.Encode()).body }
	const note = "redelivered since stands here no more"
	require.Contains(t, shown("type:order-close status:failed ended:1h"), note)
	h.shelf.views = []timer.View{viewOf(timer.Failed)}
	for _, search := range []string{"status:failed ended:1h", "status:failed ended:yesterday..", "status:failed ended:..today"} {
		require.Contains(t, shown(search), note, "%s: it may lack some too", search)
	}
	for _, search := range []string{"", "status:failed", "ended:1h", "status:delivered ended:1h"} {
		require.NotContains(t, shown(search), note, search)
	}
}

// A list of a time to come says what it lacks: the forecast counts later rings of rules, and items of dispatches.
func TestAListOfTheTimeAheadSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	shown := func(search string) string { return h.get(list + "?" + url.Values{"q": {search}}.Encode()).body }
	minute := h.now.UTC().Truncate(time.Minute)
	span := func(from time.Time) string {
		return "due:" + from.Format(time.RFC3339) + ".." + from.Add(time.Minute).Format(time.RFC3339)
	}
	empty := shown("type:order-close " + span(minute.Add(time.Hour)) + " sort:due")
	require.Contains(t, empty, "No timer is found by")
	require.Contains(t, empty, "A recurring timer stands here by its next ring only.")
	require.Contains(t, empty, `href="/console/timers?q=type%3Aorder-close&#43;is%3Arecurring"`)
	require.Contains(t, empty, `href="/console/dispatches?business_type=order-close"`)
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	for _, search := range []string{"status:scheduled due:1h", "due:tomorrow", "due:yesterday.."} {
		require.Contains(t, shown(search), "by its next ring only", "%s: it may lack some too", search)
	}
	for _, search := range []string{"", "status:failed due:1h", span(minute.Add(-time.Hour)), "due:..yesterday", "ended:1h", "is:held due:1h"} {
		require.NotContains(t, shown(search), "by its next ring only", search)
	}
}

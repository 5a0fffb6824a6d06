package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

const timerPath = "/console/timers/order-close/1"

// The times of a changed rule are shown before it is changed, and the change is meant for the timer
// that was shown.
func TestARuleIsChangedOnceItsTimesWereSeen(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	view := dailyOf(viewOf(timer.Scheduled))
	h.shelf.views = []timer.View{view}
	require.Contains(t, h.get(timerPath).body, `href="`+timerPath+`/rule"`)
	page := h.get(timerPath + "/rule").body
	require.Contains(t, page, "Every 24 h, in Europe/Berlin.")
	require.Contains(t, page, ">41</th>")
	require.Contains(t, page, "2 skipped before")
	require.Contains(t, page, "7 ms late")
	require.Contains(t, page, `<span class="mark status-failed">failed</span> <small>HTTP 503</small></td>`)
	require.Equal(t, 3, strings.Count(page, "<li><time"))

	form := url.Values{"etag": tagOf(view)["etag"], "rule": {`{"every":"1h"}`}}
	preview := h.post(timerPath+"/rule", form)
	require.Equal(t, http.StatusOK, preview.StatusCode)
	require.Empty(t, h.shelf.changes())
	require.Equal(t, 20+3, strings.Count(preview.body, "<li><time"), "the next ones of both")
	require.Contains(t, preview.body, "<ins>new</ins>")
	form.Set("sure", "yes")
	require.Equal(t, timerPath+"?done=rule", found(h.post(timerPath+"/rule", form)))
	require.Equal(t, []string{"rule order-close/1"}, h.shelf.changes())

	for name, c := range map[string]struct {
		form url.Values
		want int
	}{
		"no JSON":       {url.Values{"etag": form["etag"], "rule": {"every day"}}, http.StatusUnprocessableEntity},
		"no rule":       {url.Values{"etag": form["etag"], "rule": {`{"every":"soon"}`}}, http.StatusUnprocessableEntity},
		"nothing shown": {url.Values{"rule": form["rule"]}, http.StatusBadRequest},
		"a stale one":   {url.Values{"etag": {`"7-` + strings.Split(form.Get("etag"), "-")[1]}, "rule": form["rule"], "sure": {"yes"}}, http.StatusPreconditionFailed},
	} {
		require.Equal(t, c.want, h.post(timerPath+"/rule", c.form).StatusCode, name)
	}
	require.Len(t, h.shelf.changes(), 1)
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	require.Equal(t, http.StatusNotFound, h.get(timerPath+"/rule").StatusCode, "it rings once")
}

// A cron rule is said in words beside its expression, on the page of the timer as well. Its times stand
// on the clock of its zone too, and so do those of a changed rule on the clock of the other zone.
func TestACronRuleIsSaidInWords(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	view, text := viewOf(timer.Scheduled), "*/5 9-17 * * 1-5"
	view.Recurrence = &recurrence.Rule{Cron: &text, Timezone: "Europe/Berlin"}
	h.shelf.views = []timer.View{view}
	for _, path := range []string{timerPath, timerPath + "/rule"} {
		require.Contains(t, h.get(path).body, `Every 5 minutes between 09:00 and 17:59 on weekdays <code dir="ltr">*/5 9-17 * * 1-5</code>, in Europe/Berlin.`)
		require.Contains(t, h.get(path+"?lang=zh-CN").body, `每周一至周五 09:00 至 17:59 每 5 分钟 <code dir="ltr">*/5 9-17 * * 1-5</code>，时区 Europe/Berlin。`)
	}
	page := h.get(timerPath + "/rule").body
	onClock := regexp.MustCompile(`<li><time datetime="([^"]+)".*? <small>(\S+) (\d{4}-\d\d-\d\d) (\d\d):(\d\d):00 Europe/Berlin</small>`).FindAllStringSubmatch(page, -1)
	require.Len(t, onClock, 3)
	for _, one := range onClock {
		at, err := time.Parse(time.RFC3339, one[1])
		require.NoError(t, err)
		day, err := time.Parse(time.DateOnly, one[3])
		require.NoError(t, err)
		require.Equal(t, day.Weekday().String(), one[2])
		require.Contains(t, []string{"09", "10", "11", "12", "13", "14", "15", "16", "17"}, one[4])
		zone, err := time.LoadLocation("Europe/Berlin")
		require.NoError(t, err)
		require.Equal(t, one[3]+" "+one[4]+":"+one[5], at.In(zone).Format("2006-01-02 15:04"))
	}
	require.Contains(t, page, "<small>Thursday 1970-01-01 01:00:00 Europe/Berlin</small>", "of the past")

	preview := h.post(timerPath+"/rule", url.Values{"etag": tagOf(view)["etag"], "rule": {`{"cron":"0 9 * * *","timezone":"Asia/Tokyo"}`}}).body
	require.Contains(t, preview, `At 09:00 every day <code dir="ltr">0 9 * * *</code>, in Asia/Tokyo.`)
	require.Equal(t, 20, strings.Count(preview, " 09:00:00 Asia/Tokyo</small>"))
	require.Equal(t, 3+2, strings.Count(preview, " Europe/Berlin</small>"), "those of the rule as it is")
}

// A rule that was changed behind its page is refused with what changed since it was shown, as the page of a timer
// says it, and what was typed is meant for the timer as it is now.
func TestARuleThatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	seen := dailyOf(viewOf(timer.Scheduled))
	now := seen
	now.Memo.Revision, now.Revision = 2, 2
	h.shelf.views = []timer.View{now}
	h.shelf.story = []timer.HistoryEntry{
		{Event: timer.HistoryBooked, Revision: 1, Who: &wire.Actor{Name: "shop"}},
		{Event: timer.HistoryChanged, Revision: 2, Who: &wire.Actor{Name: "ben"}, Changes: []timer.FieldChange{{Field: "priority", To: 1}}},
		{Event: timer.HistoryDelivered},
	}
	form := url.Values{"etag": {tagOf(seen).Get("etag")}, "rule": {`{"every":"1h"}`}, "sure": {"yes"}}
	late := h.post(timerPath+"/rule", form)
	require.Equal(t, http.StatusPreconditionFailed, late.StatusCode)
	require.Empty(t, h.shelf.changes())
	above, below, _ := strings.Cut(late.body, `class="sentence"`)
	require.Contains(t, above, "changed meanwhile")
	require.Contains(t, above, `<span dir="auto">ben</span>`, "it says who changed what since then")
	require.Contains(t, above, "<code>priority</code>")
	require.NotContains(t, above, "shop", "and not what was shown before")
	require.NotContains(t, above, "<strong>delivered</strong>")
	require.Contains(t, below, "{&#34;every&#34;:&#34;1h&#34;}</textarea>")
	require.Contains(t, below, strings.ReplaceAll(tagOf(now).Get("etag"), `"`, "&#34;"))
	form.Del("sure")
	require.NotContains(t, h.post(timerPath+"/rule", form).body, "ben", "nothing is refused yet")

	now.Status = timer.Delivered
	h.shelf.views = []timer.View{now}
	form.Set("sure", "yes")
	above, _, _ = strings.Cut(h.post(timerPath+"/rule", form).body, `class="sentence"`)
	require.Contains(t, above, "The delivery came first")
	require.Contains(t, above, `<span dir="auto">ben</span>`)
	require.Contains(t, above, "<strong>delivered</strong>", "its end is what changed")
}

// A payload is shown on a click, byte for byte, to who may see it, and who looked is recorded.
func TestAPayloadIsShownOnAClick(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("vera", "vera", ":viewer+payloads:order-*")), secret: seal.NewKey()})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	h.shelf.payload = timer.Payload{Data: []byte(`{"n": 1.0e1, "s":"</pre><script>"}`), ContentType: timer.ContentTypeJSON}
	h.signIn("vera")
	require.NotContains(t, h.get(timerPath).body, "1.0e1")
	const digest = "c328cca740b5b95ff0985b97a9d6661aa784162d728e9bf26f5f7eb8b6f36f57"
	require.Contains(t, h.get(timerPath).body, "34 bytes")
	require.Contains(t, h.get(timerPath).body, digest)
	require.Contains(t, h.get(timerPath).body, timerPath+"/payload")
	require.Empty(t, h.records())
	page := h.get(timerPath + "/payload").body
	require.Contains(t, page, `{&#34;n&#34;: 1.0e1, &#34;s&#34;:&#34;&lt;/pre&gt;&lt;script&gt;&#34;}`)
	require.Contains(t, page, "34 bytes")
	require.Contains(t, page, digest)
	records := h.records()
	require.Len(t, records, 1)
	require.Equal(t, "vera", records[0].Who.Name)
	require.Equal(t, trail.Unchanged, records[0].Outcome)
	require.Equal(t, "/v1/timers/:type/:id", records[0].Route)

	h.shelf.payload = timer.Payload{Data: []byte{0xff, 0}, ContentType: "application/octet-stream"}
	require.Contains(t, h.get(timerPath+"/payload").body, "It is no text.")
	require.Contains(t, h.get(timerPath).body, "2 bytes")
	h.shelf.payload = timer.Payload{}
	require.Contains(t, h.get(timerPath+"/payload").body, "It has no payload.")
	require.Contains(t, h.get(timerPath).body, "It has no payload.")
	require.NotContains(t, h.get(timerPath).body, timerPath+"/payload")
	require.NotContains(t, h.get(timerPath).body, "SHA-256")
	h.shelf.payload = timer.Payload{Data: []byte("1"), ContentType: timer.ContentTypeJSON}
	require.Contains(t, h.get(timerPath).body, "1 byte<")
	h.shelf.payload = timer.Payload{Data: []byte(`"secret"`), ContentType: timer.ContentTypeJSON}
	h.signIn("eve")
	require.NotContains(t, h.get(timerPath).body, timerPath+"/payload")
	require.Contains(t, h.get(timerPath).body, "8 bytes", "the size is shown to all")
	require.NotContains(t, h.get(timerPath).body, "SHA-256", "a digest lets one guess")
	require.NotContains(t, h.get(timerPath+"/payload").body, "secret")
	require.Equal(t, []told{{"eve", "GET /v1/timers/:type/:id", trail.Target{BusinessType: "order-close", BusinessID: "1"}, nil, http.StatusOK, "forbidden"}}, h.refusals(func() {
		require.Contains(t, h.get(timerPath+"/payload").body, "with the right to see payloads")
	}), "nothing was shown")
}

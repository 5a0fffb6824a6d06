package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
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

// A payload is shown on a click, byte for byte, to who may see it, and who looked is recorded.
func TestAPayloadIsShownOnAClick(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("vera", "vera", ":viewer+payloads:order-*")), secret: seal.NewKey()})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	h.shelf.payload = timer.Payload{Data: []byte(`{"n": 1.0e1, "s":"</pre><script>"}`), ContentType: timer.ContentTypeJSON}
	h.signIn("vera")
	require.NotContains(t, h.get(timerPath).body, "1.0e1")
	require.Contains(t, h.get(timerPath).body, timerPath+"/payload")
	require.Empty(t, h.records())
	page := h.get(timerPath + "/payload").body
	require.Contains(t, page, `{&#34;n&#34;: 1.0e1, &#34;s&#34;:&#34;&lt;/pre&gt;&lt;script&gt;&#34;}`)
	require.Contains(t, page, "34 bytes")
	records := h.records()
	require.Len(t, records, 1)
	require.Equal(t, "vera", records[0].Who.Name)
	require.Equal(t, trail.Unchanged, records[0].Outcome)
	require.Equal(t, "/v1/timers/:type/:id", records[0].Route)

	h.shelf.payload = timer.Payload{Data: []byte{0xff, 0}, ContentType: "application/octet-stream"}
	require.Contains(t, h.get(timerPath+"/payload").body, "It is no text.")
	h.shelf.payload = timer.Payload{}
	require.Contains(t, h.get(timerPath+"/payload").body, "It has no payload.")
	h.shelf.payload = timer.Payload{Data: []byte(`"secret"`), ContentType: timer.ContentTypeJSON}
	h.signIn("eve")
	require.NotContains(t, h.get(timerPath).body, timerPath+"/payload")
	require.NotContains(t, h.get(timerPath+"/payload").body, "secret")
	require.Equal(t, []told{{"eve", "GET /v1/timers/:type/:id", trail.Target{BusinessType: "order-close", BusinessID: "1"}, nil, http.StatusOK, "forbidden"}}, h.refusals(func() {
		require.Contains(t, h.get(timerPath+"/payload").body, "with the right to see payloads")
	}), "nothing was shown")
}

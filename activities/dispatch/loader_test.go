package dispatch

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// loading is a world whose shard comes from a loader.
func loading(answer func(question url.Values, n int) send.Outcome) *world {
	h := newWorld(0, 1)
	h.memo.Order.Loader = &dispatch.Loader{URL: "http://127.0.0.1:3/items?since=monday", Shards: 4, PageSize: 10, Timeout: wire.Duration(time.Second)}
	asked := 0
	h.answer = func(m send.Message, _ int) send.Outcome {
		if !m.Ask {
			return taken()
		}
		asked++
		u, _ := url.Parse(m.Destination.URL)
		return answer(u.Query(), asked)
	}
	return h
}

func says(body string) send.Outcome { o := taken(); o.Body = []byte(body); return o }

// five answers five items for each cursor, three times.
func five(question url.Values, _ int) send.Outcome {
	cursor := question.Get("cursor")
	next := map[string]string{"": `"a"`, "a": `"b"`, "b": "null"}[cursor]
	var items []string
	for n := range 5 {
		items = append(items, fmt.Sprintf(`{"id":"%s-%d","payload":{"n": %d}}`, "i"+cursor, n, n))
	}
	return says(fmt.Sprintf(`{"items":[%s],"next_cursor":%s}`, strings.Join(items, ","), next))
}

func TestALoader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := loading(five)
		h.policy.SigningSecrets = []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
		shard := h.shard()
		shard.Number, h.memo.Plan.Active = 3, []int{3}
		end := h.live(t, shard)
		require.Equal(t, 15, end.State.Done)
		require.Nil(t, end.State.Problem)
		var asked, sent []message
		for _, m := range h.came {
			if m.Ask {
				asked = append(asked, m)
			} else {
				sent = append(sent, m)
			}
		}
		require.Len(t, sent, 15)
		require.Equal(t, `{"n": 2}`, string(sent[2].Body))
		require.Len(t, asked, 3)
		require.Equal(t, "http://127.0.0.1:3/items?since=monday&shard=3&shards=4&cursor=a&limit=10", asked[1].Destination.URL)
		require.NotEmpty(t, asked[1].Secrets, "signed like a callback")
		require.NotEqual(t, asked[0].ID, asked[1].ID)
	})
}

// A loader that fails for a while is asked again. A lasting failure stops its shard, which
// reports that and sends what it has.
func TestALoaderThatFails(t *testing.T) {
	t.Parallel()
	many := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":"x"},`, 11), ",") + `]}`
	for name, c := range map[string]struct {
		answer  func(question url.Values, n int) send.Outcome
		done    int
		problem string
	}{
		"for a while": {func(q url.Values, n int) send.Outcome {
			if n%3 != 0 {
				return refused(500)
			}
			return five(q, n)
		}, 15, ""},
		"for ever": {func(q url.Values, n int) send.Outcome {
			if q.Get("cursor") != "" {
				return refused(500)
			}
			return five(q, n)
		}, 5, "did not answer: HTTP 500"},
		"not asked, for want of our own": {func(q url.Values, n int) send.Outcome {
			if n%12 != 0 {
				return wanting()
			}
			return five(q, n)
		}, 15, ""},
		"too slow":       {func(url.Values, int) send.Outcome { return send.Failed(delivery.Timeout) }, 0, "did not answer: timeout"},
		"gone":           {func(url.Values, int) send.Outcome { o := refused(410); o.NoRetry = true; return o }, 0, "cannot be called: HTTP 410"},
		"rubbish":        {func(url.Values, int) send.Outcome { return says("<html>") }, 0, "is not of the form"},
		"no items":       {func(url.Values, int) send.Outcome { return says(`{"next_cursor":"a"}`) }, 0, "has no items"},
		"too many items": {func(url.Values, int) send.Outcome { return says(many) }, 0, "11 items; the page size is 10"},
		"a bad item":     {func(url.Values, int) send.Outcome { return says(`{"items":[{"id":"a"},{"id":"b c"}]}`) }, 0, "item 1 is refused: /id"},
		"a large item": {func(url.Values, int) send.Outcome {
			return says(`{"items":[{"id":"a","payload":"` + strings.Repeat("x", 64<<10) + `"}]}`)
		}, 0, "item 0 is refused: /payload"},
		"a large answer": {func(url.Values, int) send.Outcome { return says(strings.Repeat(" ", dispatch.MaxLoaderAnswer+1)) }, 0, "has more than 8388608 bytes"},
		"a large cursor": {func(url.Values, int) send.Outcome {
			return says(`{"items":[],"next_cursor":"` + strings.Repeat("x", 2000) + `"}`)
		}, 0, "next_cursor has more than 1024"},
		"the largest cursor": {func(q url.Values, n int) send.Outcome {
			if q.Get("cursor") != "" {
				return says(`{"items":[]}`)
			}
			return says(`{"items":[{"id":"a"}],"next_cursor":"` + strings.Repeat("x", dispatch.MaxCursor) + `"}`)
		}, 1, ""},
		"the same cursor": {func(q url.Values, n int) send.Outcome {
			return says(fmt.Sprintf(`{"items":[{"id":"i-%d"}],"next_cursor":"a"}`, n))
		}, 2, "repeated an earlier cursor: a"},
		"a cycle": {func(q url.Values, n int) send.Outcome {
			return says(fmt.Sprintf(`{"items":[],"next_cursor":"c%d"}`, n%5))
		}, 0, "repeated an earlier cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := loading(c.answer)
				end := h.live(t, h.shard())
				require.Equal(t, c.done, end.State.Done)
				require.Equal(t, c.done, end.State.Found)
				requireProblem(t, c.problem, end.State)
			})
		})
	}
}

// The end of a run does not wait for a loader that is slow, nor does the end of its worker.
func TestALoaderThatIsSlowAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paused bool
		lasts  time.Duration
		err    string
	}{
		"the run ends":    {true, 0, ""},
		"its worker ends": {false, time.Second, context.DeadlineExceeded.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, began := loading(five), time.Now()
				h.takes, h.memo.Order.Loader.Timeout = time.Hour, wire.Duration(time.Minute)
				time.AfterFunc(time.Second, func() { h.with(func() { h.memo.Plan.Paused = c.paused }) })
				_, err := attempt{executor: h.executor(), number: 1, lasts: c.lasts}.run(t, h.shard(), nil)
				if c.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.err)
				}
				require.Less(t, time.Since(began), 5*time.Second)
			})
		})
	}
}

// If a loader answers another page for a cursor than before, the whole page is sent.
func TestAPageThatHasChanged(t *testing.T) {
	t.Parallel()
	items := []dispatch.Item{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	was := open(dispatch.Open{Cursor: "x"}, items)
	was.markResolved(0)
	was.markResolved(2)
	again := open(was.state(), items)
	require.Equal(t, 1, again.left)
	from, to := again.takeItems(5)
	require.Equal(t, []int{1, 2}, []int{from, to})
	other := open(was.state(), items[:2])
	require.Equal(t, 2, other.left)
}

package dispatch

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/dispatch"
)

// remembering is a receiver that takes each webhook-id once, as the documents advise: it
// answers a known id with 200 and ignores it.
type remembering struct {
	bodies map[string]string
	// took are the taken items, by their ids, and refuse reports whether to refuse an item.
	took   map[string][]string
	refuse func(id string, n int) bool
	// torn is an id that came with two bodies; "" for none.
	torn string
}

func newRemembering() *remembering {
	return &remembering{bodies: map[string]string{}, took: map[string][]string{}, refuse: func(string, int) bool { return false }}
}

// seen records a message, and reports whether its id came before.
func (r *remembering) seen(m send.Message) bool {
	body, known := r.bodies[m.ID]
	if known && body != string(m.Body) {
		r.torn = m.ID
	}
	r.bodies[m.ID] = string(m.Body)
	return known
}

func (r *remembering) item(m send.Message, _ int) send.Outcome {
	if !r.seen(m) {
		id := m.Headers[send.HeaderBusinessID]
		r.took[id] = append(r.took[id], string(m.Body))
	}
	return taken()
}

func (r *remembering) page(m send.Message, n int) send.Outcome {
	var sent struct{ Items []dispatch.Item }
	if r.seen(m) || json.Unmarshal(m.Body, &sent) != nil {
		return taken()
	}
	verdicts := `{"results":[{"id":"nobody","ok":true}`
	for _, item := range sent.Items {
		if r.refuse(item.ID, n) {
			verdicts += fmt.Sprintf(`,{"id":%q,"ok":false}`, item.ID)
			continue
		}
		r.took[item.ID] = append(r.took[item.ID], string(item.Payload))
	}
	o := taken()
	o.Body = []byte(verdicts + `]}`)
	return o
}

// Refused items of a page come again under a new id: a receiver that remembers ids takes them.
func TestRefusedItemsOfAPageHaveAnIDOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(id string, n int) bool{
		"two of six":            func(id string, n int) bool { return n == 1 && (id == "n-0" || id == "n-3") },
		"all but the first":     func(id string, n int) bool { return n == 1 && id != "n-0" },
		"one after another":     func(id string, n int) bool { return n < 6 && id >= fmt.Sprint("n-", n) },
		"the same one, thrice":  func(id string, n int) bool { return n <= 3 && id == "n-0" },
		"all of them, at first": func(_ string, n int) bool { return n == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, r := newWorld(6, 6), newRemembering()
				h.memo.Order.Per, h.memo.Order.PageSize = dispatch.PerPage, 6
				h.policy.Retry = steps(time.Second, time.Second, time.Second, time.Second, time.Second, time.Second)
				h.answer, r.refuse = r.page, refuse
				end := h.live(t, h.shard())
				require.Equal(t, 6, end.State.Done)
				require.Empty(t, r.torn)
				require.Len(t, r.took, 6, "done means taken")
			})
		})
	}
}

// The same body keeps its id: a receiver whose answer was lost recognises it.
func TestAPageThatIsTriedAgainKeepsItsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(6, 6)
		h.memo.Order.Per, h.memo.Order.PageSize = dispatch.PerPage, 6
		h.policy.Retry = steps(time.Second)
		h.answer = func(_ send.Message, n int) send.Outcome {
			if n == 1 {
				return refused(500)
			}
			return taken()
		}
		h.live(t, h.shard())
		require.Len(t, h.came, 2)
		require.Equal(t, h.came[0].ID, h.came[1].ID)
		require.Equal(t, h.came[0].Body, h.came[1].Body)
	})
}

// An item id that comes twice with other payloads is two messages. They never share a
// callback, whose verdicts name items by their ids.
func TestAnItemIDWithTwoPayloads(t *testing.T) {
	t.Parallel()
	for _, per := range dispatch.Pers() {
		t.Run(string(per), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, r := newWorld(4, 4), newRemembering()
				for n := range h.pages["page/0"].Items {
					h.pages["page/0"].Items[n].ID = "twin"
				}
				h.answer = r.item
				if h.memo.Order.Per = per; per == dispatch.PerPage {
					h.memo.Order.PageSize, h.answer = 4, r.page
				}
				end := h.live(t, h.shard())
				require.Equal(t, 4, end.State.Done)
				require.Empty(t, r.torn)
				require.Equal(t, []string{"0", "1", "2", "3"}, r.took["twin"])
			})
		})
	}
}

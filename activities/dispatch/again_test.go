package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
)

// wanting is the outcome of an attempt for which this process lacks resources.
func wanting() send.Outcome {
	return send.Outcome{Answer: delivery.Answer{Class: delivery.OutOfResources, NoVerdict: true}, Ended: time.Now()}
}

// A lack of local resources uses up no attempt of an item, however long it lasts: no receiver
// was called. The same items leave under the same id later, and the shard rests meanwhile.
func TestWantOfOurOwnUsesUpNoAttempt(t *testing.T) {
	t.Parallel()
	for name, per := range map[string]dispatch.Per{"items": dispatch.PerItem, "pages": dispatch.PerPage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(300, 100)
				h.policy.Retry = steps() // one attempt
				h.memo.Order.Per, h.memo.Order.PageSize = per, 10
				began, tried := time.Now(), 0
				h.answer = func(m send.Message, _ int) send.Outcome {
					if since := time.Since(began); since > time.Second && since < time.Minute {
						tried++
						return wanting()
					}
					require.Equal(t, "1", m.Headers[send.HeaderAttempt])
					return taken()
				}
				end := h.live(t, h.shard())
				require.Equal(t, dispatch.Counts{Found: 300, Done: 300, Callbacks: end.State.Callbacks}, end.State.Counts)
				require.Positive(t, tried)
				require.Less(t, tried, 300, "a shard without room rests")
				require.Len(t, h.came, end.State.Callbacks+tried, "what was not sent is no callback")
				ids := map[string]bool{}
				for _, m := range h.came {
					ids[m.ID] = true
				}
				require.Len(t, ids, end.State.Callbacks, "the same call has the same id")
			})
		})
	}
}

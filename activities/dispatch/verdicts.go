package dispatch

import (
	"bytes"
	"encoding/json"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// pageMessage is the id and the body of a callback for several items, and how many bytes of
// its answer to read.
func (s *sender) pageMessage(j job) (id string, body []byte, answer int) {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i, item := range j.items() {
		if i > 0 {
			b.WriteByte(',')
		}
		// An id has no character that JSON escapes.
		b.WriteString(`{"id":"` + item.ID + `","webhook_id":"` + s.shard.ItemID(item) + `"`)
		if len(item.Payload) > 0 {
			b.WriteString(`,"payload":`)
			b.Write(item.Payload)
		}
		b.WriteByte('}')
	}
	b.WriteString(`]}`)
	return s.shard.PageID(j.items(), b.Bytes()), b.Bytes(), dispatch.MaxPageAnswer
}

// verdicts is the answer to a callback for several items. An item that is not named was taken.
type verdicts struct {
	Results []struct {
		ID string `json:"id"`
		OK *bool  `json:"ok"`
		// Retry reports whether the item may be tried again. It defaults to true.
		Retry  *bool  `json:"retry"`
		Reason string `json:"reason"`
	} `json:"results"`
}

// accept handles the answer of a receiver that took the callback.
func (s *sender) accept(j job, outcome send.Outcome) {
	refused, readable := s.refusedItems(outcome)
	if !readable {
		outcome.Answer = delivery.Answer{Class: delivery.BrokenAnswer, Status: outcome.Status, Detail: "the verdicts cannot be read"}
		s.refuse(j, outcome)
		return
	}
	done := 0
	for i := j.from; i < j.to; i++ {
		refusal, no := refused[j.page.items[i].ID]
		if !no {
			s.state.Done++
			s.markResolved(j.page, i)
			done++
			continue
		}
		j.page.items[i].Refusals++
		s.retry(j, i, delivery.Judge(refusal), refusal.Failure(wire.At(outcome.Ended)))
	}
	s.Observer.Dispatched(s.shard.BusinessType, OutcomeDone, done)
}

// refusedItems reads the items of a page that its receiver did not take, by their ids. An answer
// without a body took them all.
func (s *sender) refusedItems(outcome send.Outcome) (refused map[string]delivery.Answer, readable bool) {
	if s.settings.memo.Order.Per != dispatch.PerPage || len(bytes.TrimSpace(outcome.Body)) == 0 {
		return nil, true
	}
	var answer verdicts
	if json.Unmarshal(outcome.Body, &answer) != nil || len(outcome.Body) > dispatch.MaxPageAnswer {
		return nil, false
	}
	refused = map[string]delivery.Answer{}
	for _, result := range answer.Results {
		if result.OK != nil && !*result.OK {
			refused[result.ID] = delivery.Answer{
				Class: delivery.Answered, Status: outcome.Status, Detail: wire.Excerpt(delivery.RefusedItem + result.Reason),
				NoRetry: result.Retry != nil && !*result.Retry,
			}
		}
	}
	return refused, true
}

// refuse handles an answer that took no item of the callback.
func (s *sender) refuse(j job, outcome send.Outcome) {
	verdict, failure := delivery.Judge(outcome.Answer), outcome.Failure(wire.At(outcome.Ended))
	for i := j.from; i < j.to; i++ {
		s.retry(j, i, verdict, failure)
	}
}

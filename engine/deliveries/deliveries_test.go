package deliveries

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

// A token is good for the one delivery and attempt that it was made for, also when the key
// has been rotated since; without a key there is none.
func TestAckTokens(t *testing.T) {
	t.Parallel()
	boxOf := func(keys string) *seal.Box {
		box, err := seal.New(keys)
		require.NoError(t, err)
		return box
	}
	old, key := seal.NewKey(), wire.Key{BusinessType: "x", BusinessID: "a:b"}
	spec := timer.Spec{Key: key, Memo: timer.Memo{Round: 2}}
	id := spec.WebhookID()
	token := (&Deliveries{box: boxOf(old)}).AckToken(spec, 3)
	rotated := &Deliveries{box: boxOf(seal.NewKey() + "," + old)}
	of, err := rotated.Open(id, token)
	require.NoError(t, err)
	require.Equal(t, Accepted{Key: key, WebhookID: id, Round: 2, Attempt: 3}, of)
	require.NotEqual(t, token, rotated.AckToken(spec, 3), "the new key makes them")
	parts := strings.Split(token, ".")
	forged := func(part int, text string) string {
		other := slices.Clone(parts)
		other[part] = text
		return strings.Join(other, ".")
	}
	for name, c := range map[string]struct {
		of    *Deliveries
		id    string
		token string
	}{
		"another delivery": {rotated, "msg_2", token},
		"another key":      {&Deliveries{box: boxOf(seal.NewKey())}, id, token},
		"no key":           {&Deliveries{box: boxOf("")}, id, token},
		"another round":    {rotated, id, forged(1, "1")},
		"another attempt":  {rotated, id, forged(2, "4")},
		"a part":           {rotated, id, token[:12]},
		"no text":          {rotated, id, forged(0, "!")},
		"no number":        {rotated, id, forged(2, "x")},
		"no timer":         {rotated, id, forged(0, "eA")},
		"nothing":          {rotated, id, ""},
	} {
		_, err := c.of.Open(c.id, c.token)
		require.ErrorIs(t, err, ErrAckToken, name)
	}
	require.Empty(t, (&Deliveries{box: boxOf("")}).AckToken(spec, 1))
}

// What becomes of a word, by how the delivery stands.
func TestTheFateOfAWord(t *testing.T) {
	t.Parallel()
	const id = "msg_1"
	view := func(status timer.Status, change func(*timer.View)) timer.View {
		v := timer.View{Status: status, WebhookID: id, Attempts: 2}
		if change != nil {
			change(&v)
		}
		return v
	}
	awaited := view(timer.Delivering, func(v *timer.View) { v.AckUntil = 1 })
	nacked := delivery.Acceptance{Attempt: 2, Result: delivery.ResultRetry, Failure: &delivery.Failure{Class: delivery.Nacked}}
	silent := delivery.Acceptance{Attempt: 2, Result: delivery.ResultRetry, Failure: &delivery.Failure{Class: delivery.Unacknowledged}}
	past := func(status timer.Status, class delivery.FailureClass) timer.View {
		return view(timer.Scheduled, func(v *timer.View) {
			v.WebhookID = "msg_next"
			v.LastOccurrence = &timer.Past{WebhookID: id, Outcome: timer.Outcome{Status: status, LastFailure: &delivery.Failure{Class: class}}}
		})
	}
	for name, c := range map[string]struct {
		stands state
		// of is the attempt whose token was sent, 0 for a key; about is the attempt that the
		// word counts for.
		of, ackAbout, nackAbout int
		ack, nack               result
	}{
		"awaited":                             {state{view: awaited, accepted: delivery.Acceptance{Attempt: 2}}, 2, 2, 2, undecided, undecided},
		"awaited, by a key":                   {state{view: awaited, accepted: delivery.Acceptance{Attempt: 2}}, 0, 2, 2, undecided, undecided},
		"awaited, by the attempt before":      {state{view: awaited, accepted: delivery.Acceptance{Attempt: 2}}, 1, 2, 1, undecided, refused},
		"awaited and moving":                  {state{view: awaited, moving: true, accepted: delivery.Acceptance{Attempt: 2}}, 2, 2, 2, undecided, undecided},
		"moving, by the attempt before":       {state{view: awaited, moving: true, accepted: delivery.Acceptance{Attempt: 2}}, 1, 2, 1, undecided, refused},
		"under way":                           {state{view: view(timer.Delivering, nil), underWay: 2}, 2, 2, 2, undecided, undecided},
		"another one under way":               {state{view: view(timer.Delivering, nil), underWay: 2, accepted: silent}, 1, 1, 1, refused, refused},
		"about to be recorded":                {state{view: view(timer.Delivering, nil), moving: true, underWay: 3}, 2, 2, 2, undecided, undecided},
		"nacked":                              {state{view: view(timer.Delivering, nil), accepted: nacked}, 2, 2, 2, refused, settled},
		"nacked, by a key":                    {state{view: view(timer.Delivering, nil), accepted: nacked}, 0, 2, 2, refused, settled},
		"the ladder went on":                  {state{view: view(timer.Delivering, nil), accepted: silent}, 2, 2, 2, refused, refused},
		"delivered":                           {state{view: view(timer.Delivered, nil)}, 2, 2, 2, settled, refused},
		"failed by a nack":                    {state{view: view(timer.Failed, nil), accepted: nacked}, 2, 2, 2, refused, settled},
		"cancelled":                           {state{view: view(timer.Cancelled, nil)}, 2, 2, 2, refused, refused},
		"scheduled again":                     {state{view: view(timer.Scheduled, nil)}, 2, 2, 2, refused, refused},
		"booked anew":                         {state{view: view(timer.Delivered, func(v *timer.View) { v.WebhookID = "msg_new" })}, 2, 2, 2, refused, refused},
		"an occurrence before, delivered":     {state{view: past(timer.Delivered, "")}, 2, 2, 2, settled, refused},
		"an occurrence before, nacked":        {state{view: past(timer.Failed, delivery.Nacked)}, 2, 2, 2, refused, settled},
		"an occurrence before, failed itself": {state{view: past(timer.Failed, delivery.Answered)}, 2, 2, 2, refused, refused},
	} {
		of := Accepted{WebhookID: id, Attempt: c.of}
		for nack, want := range map[bool]struct {
			about  int
			result result
		}{false: {c.ackAbout, c.ack}, true: {c.nackAbout, c.nack}} {
			word := delivery.Acknowledgement{WebhookID: id, Nack: nack}
			word.Attempt = c.stands.attemptOf(of, word)
			require.Equal(t, want.about, word.Attempt, "%s, nack %t", name, nack)
			require.Equal(t, want.result, c.stands.result(word), "%s, nack %t", name, nack)
		}
	}
}

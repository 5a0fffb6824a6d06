package sendtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Rules lists the rules for every transport. In addition, each rule ends with no goroutine left.
func Rules() []Rule {
	return []Rule{
		{"delivers once", deliversOnce},
		{"keeps every byte", keepsEveryByte},
		{"keeps every header", keepsEveryHeader},
		{"keeps the id over attempts", keepsTheID},
		{"leaves the envelope alone", leavesTheEnvelopeAlone},
		{"tells what came of it", tellsWhatCameOfIt},
		{"tells when", tellsWhen},
		{"tells no secret", tellsNoSecret},
		{"keeps to the timeout", keepsToTheTimeout},
		{"ends when it is cancelled", endsWhenCancelled},
		{"sends nothing too late", sendsNothingTooLate},
		{"serves many at once", servesMany},
		{"leaves nothing behind", leavesNothingBehind},
	}
}

func deliversOnce(c *check) {
	outcome := c.sends(c.ctx, c.accepted())
	if delivery.Judge(outcome.Answer).Decision != delivery.DecisionDelivered {
		c.Errorf("a message that was taken is judged %+v", outcome)
	}
	if got := len(c.Received()); got != 1 {
		c.Errorf("it arrived %d times", got)
	}
}

func keepsEveryByte(c *check) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for contentType, body := range map[string][]byte{
		timer.ContentTypeJSON:                []byte("{ \"ü\" : 1.0,\n\"ü\":1e2 }\r\n"),
		"application/octet-stream":           all,
		"text/plain; charset=iso-8859-1":     {0xfc},
		"application/vnd.example+x; v=\"1\"": bytes.Repeat(all, timer.MaxPayload/len(all)),
		"":                                   nil,
	} {
		m := c.accepted()
		m.ContentType, m.Body = contentType, body
		before := len(c.Received())
		c.sends(c.ctx, m)
		got := c.Received()
		if len(got) != before+1 {
			c.Errorf("%q arrived %d times", contentType, len(got)-before)
			continue
		}
		if last := got[before]; last.ContentType != contentType || !bytes.Equal(last.Body, body) {
			c.Errorf("%d bytes of %q arrived as %d of %q", len(body), contentType, len(last.Body), last.ContentType)
		}
	}
}

func keepsEveryHeader(c *check) {
	m := c.accepted()
	m.Headers["X-Case"], m.Headers["x-spaces"] = "a \tb", "1, 2;3"
	c.sends(c.ctx, m)
	got := c.Received()
	if len(got) != 1 || len(c.tap.envelopes) != 1 {
		c.Errorf("it arrived %d times", len(got))
		return
	}
	arrived := map[string]string{}
	for name, value := range got[0].Headers {
		arrived[strings.ToLower(name)] = value
	}
	for _, name := range []string{send.HeaderWebhookID, send.HeaderWebhookTimestamp, send.HeaderWebhookSignature} {
		if arrived[name] == "" {
			c.Errorf("%s is missing", name)
		}
	}
	for name, value := range c.tap.envelopes[0].Headers {
		if arrived[strings.ToLower(name)] != value {
			c.Errorf("%s: %q arrived as %q", name, value, arrived[strings.ToLower(name)])
		}
	}
}

func keepsTheID(c *check) {
	m := c.accepted()
	c.sends(c.ctx, m)
	c.sends(c.ctx, m)
	for _, got := range c.Received() {
		if got.ID != m.ID {
			c.Errorf("%s arrived as %q", m.ID, got.ID)
		}
	}
}

func leavesTheEnvelopeAlone(c *check) {
	c.sends(c.ctx, c.accepted())
	if m, ok := c.to(Refuse); ok {
		c.sends(c.ctx, m)
	}
	if c.tap.changed {
		c.Errorf("the envelope was changed")
	}
}

// expected is the expected outcome of each behaviour.
var expected = map[Behaviour]struct {
	decision delivery.Decision
	class    delivery.FailureClass // empty for any
	sent     bool
}{
	Accept:        {delivery.DecisionDelivered, "", true},
	Refuse:        {delivery.DecisionRetry, "", true},
	RefuseForGood: {delivery.DecisionStop, "", true},
	AskPatience:   {delivery.DecisionRetry, "", false}, // some protocols ask before they send
	NeverAnswer:   {delivery.DecisionRetry, delivery.Timeout, true},
	Break:         {delivery.DecisionRetry, delivery.BrokenAnswer, true},
	Unreachable:   {delivery.DecisionRetry, delivery.ConnectFailure, false},
}

// short is long enough for an answer, and not long to wait for none.
const short = 300 * time.Millisecond

// each makes an attempt at every receiver.
func (c *check) each(visit func(Behaviour, send.Outcome)) {
	for _, behaviour := range Behaviours() {
		m, ok := c.to(behaviour)
		if !ok {
			if behaviour != RefuseForGood && behaviour != AskPatience {
				c.Errorf("no receiver %s", behaviour)
			}
			continue
		}
		if behaviour == NeverAnswer {
			m.Timeout = short
		}
		visit(behaviour, c.sends(c.ctx, m))
	}
}

func tellsWhatCameOfIt(c *check) {
	c.each(func(behaviour Behaviour, outcome send.Outcome) {
		want, verdict := expected[behaviour], delivery.Judge(outcome.Answer)
		if verdict.Decision != want.decision {
			c.Errorf("a receiver that %s is judged %s: %+v", behaviour, verdict.Decision, outcome)
		}
		if want.class != "" && outcome.Class != want.class {
			c.Errorf("a receiver that %s is of class %q, and not %q", behaviour, outcome.Class, want.class)
		}
		failed := want.decision != delivery.DecisionDelivered
		if failed && (!slices.Contains(delivery.FailureClasses(), outcome.Class) || outcome.Describe() == "") {
			c.Errorf("a receiver that %s has no class or no text: %+v", behaviour, outcome)
		}
		if (verdict.RetryAfter > 0) != (behaviour == AskPatience) {
			c.Errorf("a receiver that %s asks for %s", behaviour, verdict.RetryAfter)
		}
	})
}

func tellsWhen(c *check) {
	began := time.Now()
	c.each(func(behaviour Behaviour, outcome send.Outcome) {
		if outcome.Ended.Before(began) || outcome.Ended.After(time.Now()) {
			c.Errorf("an attempt at one that %s ended at %s", behaviour, outcome.Ended)
		}
		if want := expected[behaviour]; want.sent && (outcome.FirstByte.Before(began) || outcome.FirstByte.After(outcome.Ended)) {
			c.Errorf("to one that %s the first byte left at %s", behaviour, outcome.FirstByte)
		}
		if behaviour == Unreachable && !outcome.FirstByte.IsZero() {
			c.Errorf("a byte left for one that %s", behaviour)
		}
		began = outcome.Ended
	})
}

func tellsNoSecret(c *check) {
	c.each(func(behaviour Behaviour, outcome send.Outcome) {
		stored, _ := json.Marshal(outcome.Failure(wire.At(outcome.Ended)))
		m, _ := c.to(behaviour)
		for _, secret := range append(m.Secrets, Secret, m.Destination.URL) {
			if secret != "" && (strings.Contains(fmt.Sprintf("%+v", outcome), secret) || bytes.Contains(stored, []byte(secret))) {
				c.Errorf("the outcome of one that %s tells %q", behaviour, secret)
			}
		}
	})
}

// late is how long after its end an attempt may still take to return.
const late = time.Second

func keepsToTheTimeout(c *check) {
	m, _ := c.to(NeverAnswer)
	m.Timeout = short
	began := time.Now()
	outcome := c.sends(c.ctx, m)
	if took := time.Since(began); took < short || took > short+late {
		c.Errorf("an attempt of %s took %s", short, took)
	}
	if outcome.Delivered || outcome.Class != delivery.Timeout {
		c.Errorf("an attempt that ran out of time: %+v", outcome)
	}
}

func endsWhenCancelled(c *check) {
	m, _ := c.to(NeverAnswer)
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	began := time.Now()
	time.AfterFunc(short, cancel)
	outcome := c.sends(ctx, m)
	if took := time.Since(began); took > short+late {
		c.Errorf("an attempt that was cancelled after %s took %s", short, took)
	}
	if outcome.Delivered {
		c.Errorf("an attempt that was cancelled delivered")
	}
}

func sendsNothingTooLate(c *check) {
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	outcome := c.sends(ctx, c.accepted())
	if outcome.Delivered || !outcome.FirstByte.IsZero() || len(c.Received()) > 0 {
		c.Errorf("what was over before it began arrived: %+v", outcome)
	}
}

// many is the number of concurrent attempts.
const many = 50

func servesMany(c *check) {
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			m := c.accepted()
			m.ID, m.Body = timer.MessageID(fmt.Sprint(i)), fmt.Appendf(nil, "%d", i)
			if outcome := c.sends(c.ctx, m); !outcome.Delivered {
				c.Errorf("attempt %d beside others: %+v", i, outcome)
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	for _, got := range c.Received() {
		seen[got.ID+" "+string(got.Body)]++
	}
	for i := range many {
		if seen[timer.MessageID(fmt.Sprint(i))+" "+fmt.Sprint(i)] != 1 {
			c.Errorf("message %d did not arrive once as it was sent", i)
		}
	}
}

func leavesNothingBehind(c *check) {
	c.each(func(Behaviour, send.Outcome) {}) // leaks show once the subject is closed
}

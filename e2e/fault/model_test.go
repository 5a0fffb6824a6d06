package fault

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	httpsend "github.com/wakecall/wakecall/activities/send/http"
	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/model"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

const (
	lives     = 300 // timers of one night
	atOnce    = 12
	mostSteps = 9
)

// statuses are the receiver's answers, and calls those of a client, as the API has them. An answer
// that asks for a wait is not among them: it holds back the whole business type.
var (
	statuses = map[model.Event]int{
		model.OK: http.StatusOK, model.EndSeries: http.StatusOK, model.Accept: http.StatusAccepted,
		model.Error: http.StatusInternalServerError, model.Gone: http.StatusGone,
	}
	calls = map[model.Event]string{
		model.Move: "PATCH", model.Edit: "PATCH", model.Push: "PUT", model.Cancel: "DELETE",
		model.Fire: "POST /fire", model.Pause: "POST /pause", model.Resume: "POST /resume", model.Redeliver: "POST /redeliver",
	}
)

// life is a timer on a real server, and the sequence of events that it meets.
type life struct {
	kind   model.Kind
	script []model.Event
	// quick reports whether waits between attempts are short: each is waited for then, and none
	// is otherwise.
	quick bool
}

// newLife draws a sequence from the model's edges, of events that a test can bring about at a
// time of its own: the clock's come right after what sets the time.
func newLife(random *rand.Rand) life {
	kinds := model.Kinds()
	l := life{kind: kinds[random.IntN(len(kinds))], quick: random.IntN(2) == 0}
	state, set := model.Booked(l.kind), true
	for !state.Phase.Ended() || state.Phase == model.Failed {
		var next []model.Event
		for _, e := range model.Events() {
			if _, ok := model.All().Next(state, e); ok && l.fits(state, e, set) {
				next = append(next, e)
			}
		}
		if len(next) == 0 || len(l.script) >= mostSteps && l.rests(state) {
			break
		}
		e := next[random.IntN(len(next))]
		step, _ := model.All().Next(state, e)
		_, answer := statuses[e]
		state, set = step.To, e == model.Move || e == model.Push || set && (answer || e == model.HandedOut)
		l.script = append(l.script, e)
	}
	return l
}

// rests reports whether nothing happens to a timer by itself.
func (l life) rests(s model.State) bool {
	switch s.Phase {
	case model.Scheduled:
		return !goesOn(s)
	case model.Waiting:
		return !l.quick
	default:
		return !s.Phase.InFlight()
	}
}

// goesOn reports whether a scheduled timer rings or ends at once.
func goesOn(s model.State) bool {
	return s.Overdue || s.Kind == model.Recurring && s.Series.Left == 0 && !s.Series.Extra
}

// fits reports whether a test can bring an event about. set reports whether the time to ring was
// set by the event before.
func (l life) fits(s model.State, e model.Event, set bool) bool {
	_, answer := statuses[e]
	_, call := calls[e]
	switch {
	case s.Phase == model.Scheduled && goesOn(s):
		return e == model.Due
	case e == model.Due, e == model.HandedOut:
		return set
	case e == model.Move && l.kind == model.Recurring: // the gateway refuses it
		return false
	case s.Phase == model.Waiting && l.quick:
		return e == model.WaitOver
	case e == model.Ack || e == model.Nack:
		return true
	}
	return answer || call
}

// played is a life on its way.
type played struct {
	life
	api      process.API
	receiver *receiver.Receiver
	key      wire.Key
	answers  chan model.Event
	rings    int
	edits    int
}

// deployment is where lives are played.
type deployment struct {
	env      *process.Standalone
	receiver *receiver.Receiver
}

func newLives(t *testing.T) deployment {
	d := deployment{process.NewStandalone(t), receiver.New(t)}
	d.env.Env["WAKECALL_CALLBACK_ALLOW"] = "127.0.0.0/8"
	d.env.Start()
	return d
}

// play plays a life by the rules, and returns where the server differs from them.
func (d deployment) play(t *testing.T, l life, rules model.Rules, id string) error {
	p := &played{life: l, api: d.env.API, receiver: d.receiver, key: wire.Key{BusinessType: "life-" + id, BusinessID: id}, answers: make(chan model.Event)}
	p.api.T = t
	ladder := map[bool]string{true: "500ms", false: "1h"}[l.quick]
	p.policy(contract.JSON{
		"callback": contract.JSON{"url": d.receiver.On("/"+id, p.answer), "timeout": "60s"},
		"retry":    contract.JSON{"steps": []string{ladder}, "jitter": 0}, "ack": contract.JSON{"within": "10m"},
	})
	booked := p.booking()
	booked["business_type"], booked["business_id"] = p.key.BusinessType, id
	p.api.Add(booked)
	state := model.Booked(l.kind)
	for n, e := range l.script {
		step, ok := rules.Next(state, e)
		if !ok {
			return fmt.Errorf("%v: the model has no %s in %s", l.script[:n], e, state.Phase)
		}
		rest := l.script[n+1:]
		err := p.enact(t, moment{e, state, rest, slices.Contains(effects(step), model.Refuse)})
		p.note(step)
		if err == nil && !clockNext(rest) {
			err = p.compare(step)
		}
		if err != nil {
			p.release()
			return fmt.Errorf("%s, %v, then %s: %w", l.kind, l.script[:n], e, err)
		}
		state = step.To
	}
	return nil
}

// release lets a call in flight end.
func (p *played) release() {
	select {
	case p.answers <- model.Gone:
	default:
	}
}

func effects(step model.Step) (names []string) {
	for _, effect := range step.Effects {
		names = append(names, effect.Name)
	}
	return names
}

// answer answers a call of the receiver with the next answer of the life.
func (p *played) answer(w http.ResponseWriter, r *http.Request, _ int) {
	select {
	case e := <-p.answers:
		if e == model.EndSeries {
			w.Header().Set(httpsend.HeaderStop, "true")
		}
		w.WriteHeader(statuses[e])
	case <-r.Context().Done():
	}
}

// policy puts the policy of the life's business type. A worker holds a preloaded timer for long enough
// that others can change it meanwhile.
func (p *played) policy(terms contract.JSON) {
	if p.kind == model.Preloaded {
		terms["preload"] = "1m"
	}
	p.api.Policy(p.key.BusinessType, terms)
}

// booking is the timer as it is booked. The second occurrence of a rule comes an hour after the first.
func (p *played) booking() contract.JSON {
	terms := p.terms(p.script)
	if p.kind == model.Recurring {
		return contract.JSON{"recurrence": contract.JSON{"every": "1h", "initial_delay": terms["delay"], "max_occurrences": model.Occurrences}}
	}
	return terms
}

// terms are those of a booking or a change that sets the time: it rings soon where that comes
// next, and later where a worker holds it before.
func (p *played) terms(rest []model.Event) contract.JSON {
	rest = slices.DeleteFunc(slices.Clone(rest), func(e model.Event) bool { return statuses[e] != 0 })
	delay := "1h"
	if len(rest) > 0 && rest[0] == model.HandedOut {
		delay, rest = "50s", rest[1:]
	}
	if len(rest) > 0 && rest[0] == model.Due {
		delay = "700ms"
	}
	terms := contract.JSON{"delay": delay}
	if p.kind == model.Debounced {
		terms["max_wait"] = "5h"
	}
	return terms
}

// moment is an event of a life, between what was and what follows.
type moment struct {
	on   model.Event
	from model.State
	rest []model.Event
	// refused reports whether the model refuses it.
	refused bool
}

// enact makes an event happen. One of the clock comes by itself.
func (p *played) enact(t *testing.T, at moment) error {
	if statuses[at.on] != 0 {
		select {
		case p.answers <- at.on:
			return nil
		case <-time.After(process.Patience):
			return fmt.Errorf("no attempt waits for an answer")
		}
	}
	switch at.on {
	case model.HandedOut, model.Due, model.WaitOver:
		return nil
	case model.Ack, model.Nack:
		return p.acknowledge(t, at.on)
	default:
		return p.call(at)
	}
}

// acknowledge says what became of the last attempt, and says it again: that is no error.
func (p *played) acknowledge(t *testing.T, e model.Event) (err error) {
	made, say := client.DeliveryOf(p.receiver.Calls(p.key.BusinessID)[p.rings-1].Header), p.api.Client().Deliveries
	for range 2 {
		if e == model.Nack {
			_, _, err = say.Nack(t.Context(), made, client.Failure{Reason: "out of stock", Wait: client.After(20 * time.Second)})
		} else {
			_, _, err = say.Ack(t.Context(), made, client.After(30*time.Second))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// call makes the call of a client.
func (p *played) call(at moment) error {
	method, below, _ := strings.Cut(calls[at.on], " ")
	path := "/v1/timers/" + p.key.String() + below
	switch {
	case at.from.Phase.InFlight():
		path += "?wait=0s" // it waits for the answer
	case at.on != model.Redeliver:
		path += "?wait=30s"
	}
	status, answer, err := p.api.Try(method, path, p.body(at.on, at.rest))
	if err != nil {
		return err
	}
	if status >= 300 && status != http.StatusConflict || (status == http.StatusConflict) != at.refused {
		return fmt.Errorf("answered %d %s", status, answer)
	}
	return nil
}

func (p *played) body(e model.Event, rest []model.Event) any {
	switch e {
	case model.Move:
		return contract.JSON{"delay": p.terms(rest)["delay"]}
	case model.Push:
		return p.terms(rest)
	case model.Edit:
		p.edits++
		return contract.JSON{"priority": 1 + p.edits%2}
	default:
		return nil
	}
}

// clockNext reports whether the next event comes by itself: what there is before it is over in
// a moment.
func clockNext(rest []model.Event) bool {
	return len(rest) > 0 && (rest[0] == model.Due || rest[0] == model.WaitOver || rest[0] == model.HandedOut)
}

// note counts the calls that a step makes.
func (p *played) note(step model.Step) {
	for _, name := range effects(step) {
		if name == model.Ring || name == model.Retry {
			p.rings++
		}
	}
}

// shows reports whether the API may show a status in a phase. It sees a first attempt in flight
// that no list shows.
func shows(phase model.Phase, status string) bool {
	return status == string(phase.Status()) || phase == model.Attempting && status == string(model.Retrying.Status())
}

// agrees reports whether the API shows a state of the model.
func agrees(view contract.Timer, s model.State) bool {
	if !shows(s.Phase, view.Status) || s.Phase.Ended() || s.Phase.InFlight() {
		return shows(s.Phase, view.Status)
	}
	return view.Attempts == s.Attempt && view.Round == s.Round+1 && view.AckUntil.IsZero() == (s.Phase != model.Accepted)
}

// compare holds what shows of a timer to the model, and how often it was called.
func (p *played) compare(step model.Step) error {
	var view contract.Timer
	var rings int
	for began := time.Now(); time.Since(began) < process.Patience; <-time.After(20 * time.Millisecond) {
		view, rings = p.api.Get(p.key.String()), len(p.receiver.Calls(p.key.BusinessID))
		if agrees(view, step.To) && rings == p.rings {
			return nil
		}
	}
	return fmt.Errorf("is %s in round %d with %d attempts after %d calls, and not %+v after %d",
		view.Status, view.Round, view.Attempts, rings, step.To, p.rings)
}

// Random lives on real timers show on a real server what the model says.
func TestTheServerFollowsTheModel(t *testing.T) {
	longOnly(t)
	d, random := newLives(t), rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var playing sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for n := range lives {
		l := newLife(random)
		places <- struct{}{}
		playing.Go(func() {
			defer func() { <-places }()
			if err := d.play(t, l, model.All(), strconv.Itoa(n)); err != nil {
				t.Error(err)
			}
		})
	}
	playing.Wait()
}

// The control: a model with one wrong edge is found out.
func TestAWrongEdgeIsFoundOnAServer(t *testing.T) {
	longOnly(t)
	d := newLives(t)
	for name, script := range map[string][]model.Event{
		"the receiver took it":          {model.Due, model.OK},
		"a cold timer is cancelled":     {model.Cancel},
		"a failed timer is tried again": {model.Due, model.Gone, model.Redeliver, model.Due, model.OK},
	} {
		id := strconv.Itoa(len(name))
		require.NoError(t, d.play(t, life{kind: model.OneShot, script: script}, model.All(), id), name)
		wrong := slices.Clone(model.All())
		at := slices.IndexFunc(wrong, func(rule model.Decision) bool { return rule.Name == name })
		right := wrong[at].Then
		wrong[at].Then = func(s model.State, e model.Event) (model.State, []model.Effect) {
			to, effects := right(s, e)
			to.Phase = map[model.Phase]model.Phase{model.Delivered: model.Failed, model.Cancelled: model.Expired, model.Scheduled: model.Paused}[to.Phase]
			return to, effects
		}
		require.Error(t, d.play(t, life{kind: model.OneShot, script: script}, wrong, id+"-wrong"), name)
	}
}

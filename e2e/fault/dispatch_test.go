package fault

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// dispatchRate is the rate in items a second, low enough for a busy machine.
const dispatchRate = 100

// dispatched is a dispatch in a deployment under test.
type dispatched struct {
	*production
	key   wire.Key
	items int
	calls client.Dispatches
	// crashes counts the kills: after each, items in flight may come again.
	crashes int
}

func (p *production) dispatch(items int) *dispatched {
	return &dispatched{
		production: p, key: wire.Key{BusinessType: p.kind, BusinessID: "dispatch"}, items: items,
		calls: client.New(client.Options{URL: p.api.URL, Key: p.api.Key}).Dispatches,
	}
}

// upload orders the dispatch and uploads its items. If killed, the gateway dies in the
// middle, and the items stored by then are not sent again.
func (d *dispatched) upload(killed bool) {
	d.t.Helper()
	_, _, err := d.calls.Start(d.t.Context(), client.Order{Upload: true, Dispatch: dispatch.Dispatch{Key: d.key, PerSecond: dispatchRate}})
	require.NoError(d.t, err)
	from := 0
	if killed {
		_, err = d.calls.Upload(d.t.Context(), d.key, 0, d.numbered(0, func(n int) {
			if n == d.items*4/5 {
				d.crash(d.gateway)
			}
		}))
		require.Error(d.t, err, "it broke off")
		view := d.view()
		require.Equal(d.t, dispatch.Uploading, view.Status)
		require.Zero(d.t, d.witness.Count(), "nothing starts")
		from = view.Uploaded
	}
	_, err = d.calls.Upload(d.t.Context(), d.key, from, d.numbered(from, func(int) {}))
	require.NoError(d.t, err)
	require.Eventually(d.t, func() bool { return d.view().Items != nil }, process.Patience, 100*time.Millisecond,
		"a busy Temporal tells the dispatch of the commit after the answer")
	require.Equal(d.t, d.items, *d.view().Items)
}

// numbered are the items from one on. The receiver delays each for a moment, so that some
// are always in flight.
func (d *dispatched) numbered(from int, before func(n int)) iter.Seq2[dispatch.Item, error] {
	return func(yield func(dispatch.Item, error) bool) {
		for n := from; n < d.items; n++ {
			before(n)
			id := fmt.Sprint("item-", n)
			if !yield(client.Item(id, map[string]any{"timer": id, "hold_ms": 50}), nil) {
				return
			}
		}
	}
}

func (d *dispatched) view() (view dispatch.View) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		ctx, cancel := context.WithTimeout(d.t.Context(), 5*time.Second)
		defer cancel()
		var err error
		view, err = d.calls.Get(ctx, d.key)
		return err == nil
	}, process.Patience, 100*time.Millisecond, "it is shown once everything runs again")
	return view
}

// strike kills services at a random moment of the dispatch.
func (d *dispatched) strike(services ...string) {
	d.pause(d.between(500*time.Millisecond, 2500*time.Millisecond))
	d.crash(services...)
	d.crashes++
}

// ends waits for the end of the dispatch, and compares its result with the receiver's log,
// item by item.
func (d *dispatched) ends(row string) {
	d.t.Helper()
	var view dispatch.View
	require.Eventually(d.t, func() bool {
		view = d.view()
		return view.Status.Finished()
	}, 5*time.Minute, 500*time.Millisecond, "it comes to its end")
	arrivals, err := d.witness.Arrivals()
	require.NoError(d.t, err)
	broken, summary := judged(arrivals, d.items, d.crashes)
	if view.Status != dispatch.Done || view.Done != d.items || view.Failed != 0 || *view.Rest != 0 {
		broken = append(broken, fmt.Sprintf("it says %s: %d done, %d failed", view.Status, view.Done, view.Failed))
	}
	results.add(d.prefix+row, summary, len(broken))
	d.t.Logf("%s: %+v", row, summary)
	require.Empty(d.t, broken, "seed %d", seed)
}

// judged returns the broken promises of a dispatch: each item comes, under one id, and after
// a crash no more come again than may be in flight. Those are the items since the last
// answered heartbeat, at most two seconds' worth.
func judged(arrivals []oracle.Arrival, items, crashes int) (broken []string, summary oracle.Summary) {
	ids := map[string]string{}
	for _, a := range arrivals {
		switch known, twice := ids[a.ID]; {
		case !twice:
			ids[a.ID] = a.WebhookID
		case known != a.WebhookID:
			broken = append(broken, a.ID+" has two ids")
		default:
			summary.Duplicates++
		}
	}
	summary.Timers, summary.Lost = items, items-len(ids)
	if summary.Lost != 0 {
		broken = append(broken, fmt.Sprintf("%d of %d items did not come", summary.Lost, items))
	}
	if most := crashes * 2 * dispatchRate; summary.Duplicates > most {
		broken = append(broken, fmt.Sprintf("%d came again, and %d at most were in flight", summary.Duplicates, most))
	}
	return broken, summary
}

// The negative control.
func TestDispatchesAreJudged(t *testing.T) {
	t.Parallel()
	log := []oracle.Arrival{{ID: "a", WebhookID: "1"}, {ID: "b", WebhookID: "2"}, {ID: "a", WebhookID: "1"}}
	broken, summary := judged(log, 2, 1)
	require.Empty(t, broken)
	require.Equal(t, 1, summary.Duplicates)
	for _, wrong := range []func() ([]string, oracle.Summary){
		func() ([]string, oracle.Summary) { return judged(log, 3, 1) },
		func() ([]string, oracle.Summary) { return judged(log, 2, 0) },
		func() ([]string, oracle.Summary) {
			return judged(append(log, oracle.Arrival{ID: "b", WebhookID: "3"}), 2, 1)
		},
	} {
		broken, _ := wrong()
		require.Len(t, broken, 1)
	}
}

// Each process is killed under a dispatch: it goes on, and each item is called.
func (p *production) dispatchStruck() {
	d := p.dispatch(scaled(6000, 1000))
	d.upload(true)
	for _, service := range append(p.services(), "temporal") {
		d.strike(service)
	}
	d.ends("kill -9 of Temporal and of each of Wakecall's, one after the other, under a dispatch")
}

func TestDispatchStruck(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for victim, services := range of.victims() {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				d := newProduction(t, of, process.Direct).dispatch(6000)
				d.upload(false)
				for range 5 {
					d.strike(services...)
				}
				d.ends("kill -9 of " + victim + ", 5 times, under a dispatch")
			})
		}
	})
}

// A frozen executor sends nothing once another one may have its shards.
func TestDispatchFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for _, victim := range of.all() {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				p := newProduction(t, of, process.Direct)
				p.beside(of.worker)
				d := p.dispatch(4000)
				d.upload(false)
				for range 3 {
					d.pause(d.between(time.Second, 3*time.Second))
					d.freeze(victim)
					d.pause(5 * time.Second)
					d.thaw(victim)
					d.crashes++ // items in flight may come again
				}
				d.ends(victim + " frozen for 5 s, 3 times, under a dispatch")
			})
		}
	})
}

// A rolling update hands its work on, and repeats nothing.
func TestDispatchRolled(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.double()
		d := p.dispatch(4000)
		d.upload(false)
		for range 3 {
			for _, service := range of.services() {
				for _, name := range []string{service, other(service)} {
					d.pause(time.Second)
					require.Zero(t, p.living[name].Stop(), name)
					p.living[name] = p.living[name].Again()
				}
			}
		}
		d.ends("SIGTERM of all, rolling, under a dispatch")
	})
}

// An emergency holds a dispatch within 10 s, and it goes on afterwards.
func TestDispatchInAnEmergency(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		d := newProduction(t, of, process.Direct).dispatch(3000)
		d.upload(false)
		for _, order := range []contract.JSON{{"everything": true}, {"business_types": []string{d.kind}}} {
			d.pause(3 * time.Second)
			d.emergency("pause", order)
			d.pause(10 * time.Second)
			held := d.witness.Count()
			d.pause(5 * time.Second)
			require.Equal(t, held, d.witness.Count(), "nothing comes any more")
			d.emergency("resume", order)
		}
		d.ends("an emergency of everything, then of the type, under a dispatch")
	})
}

func (d *dispatched) emergency(verb string, order contract.JSON) {
	d.t.Helper()
	status, answer, err := d.api.Try(http.MethodPost, "/v1/emergency/"+verb, order)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusOK, status, "%s", answer)
}

package fault

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// told is a timer in the hands of a dead worker: what it is told before another one has taken it
// over, and what must become of it.
type told struct {
	// books are the fields of its booking beyond the common ones.
	books contract.JSON
	// method, below and body are the call; no method for none.
	method, below string
	body          contract.JSON
	// rings are when it must ring, and status is how it ends.
	rings  []time.Time
	status string
}

// tale returns timers by name. They are booked now, and due at one time. The worker dies soon,
// and nobody has their timers for some seconds then.
func tale(now, soon, due time.Time) map[string]told {
	const delivered = "delivered"
	at := func(t time.Time) contract.JSON {
		return contract.JSON{"due_at": t.UTC().Format("2006-01-02T15:04:05.000Z")}
	}
	with := func(fields contract.JSON, name string, value any) contract.JSON {
		fields[name] = value
		return fields
	}
	every := func(span string, most int) contract.JSON {
		return contract.JSON{"due_at": nil, "recurrence": contract.JSON{"every": span, "max_occurrences": most}}
	}
	times := func(t ...time.Time) []time.Time { return t }
	later, earlier, meanwhile := due.Add(4*time.Second), due.Add(-5*time.Second), soon.Add(2*time.Second)
	gone := soon.Add(400 * time.Millisecond) // a worker of the same machine is dead for the others after a second, at the earliest
	return map[string]told{
		"left alone":    {rings: times(due), status: delivered},
		"due meanwhile": {books: at(meanwhile), rings: times(meanwhile), status: delivered},
		"expired":       {books: with(at(gone), "expires_after", "300ms"), status: "expired"},
		"cancelled":     {method: "DELETE", status: "cancelled"},
		"moved later":   {method: "PATCH", body: at(later), rings: times(later), status: delivered},
		"moved earlier": {method: "PATCH", body: at(earlier), rings: times(earlier), status: delivered},
		"edited":        {method: "PATCH", body: contract.JSON{"payload": 2}, rings: times(due), status: delivered},
		"replaced":      {method: "PUT", body: with(at(later), "payload", 3), rings: times(later), status: delivered},
		"fired":         {method: "POST", below: "/fire", rings: times(soon), status: delivered},
		"tried again":   {books: at(now.Add(time.Second)), rings: times(now.Add(time.Second), now.Add(5*time.Second)), status: delivered},
		"recurring":     {books: every("10s", 2), rings: times(now.Add(10*time.Second), now.Add(20*time.Second)), status: delivered},
		"paused":        {books: every("1m", 2), method: "POST", below: "/pause", status: "paused"},
		"redelivered":   {books: at(now.Add(time.Second)), method: "POST", below: "/redeliver", rings: times(now.Add(time.Second), soon), status: delivered},
	}
}

// What a timer is told while a dead worker has it holds when another one takes it over, and
// nothing rings twice. It is the same for a worker that stands still, which rings nothing when
// it goes on.
func TestToldWhileADeadWorkerHasIt(t *testing.T) {
	longOnly(t)
	for name, c := range map[string]struct {
		strike, heal func(*process.Process)
	}{
		"killed": {(*process.Process).Kill, func(*process.Process) {}},
		"frozen": {(*process.Process).Freeze, (*process.Process).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProduction(t, node, process.Direct)
			calls := receiver.New(t)
			p.policy(calls.On("/", refuseFirst), contract.JSON{"retry": contract.JSON{"steps": []string{"4s"}, "jitter": 0}})
			p.double()
			dead := p.living[p.worker]
			now := time.Now()
			soon, due := now.Add(4*time.Second), now.Add(22*time.Second)
			timers := tale(now, soon, due)
			for name, timer := range timers {
				p.book(name, timer, due)
			}
			p.pause(time.Until(soon))
			c.strike(dead)
			p.api.URL = p.gateways[0]
			for name, timer := range timers {
				p.tell(name, timer)
			}
			p.pause(time.Until(due.Add(10 * time.Second)))
			c.heal(dead)
			p.pause(5 * time.Second)
			for name, timer := range timers {
				p.check(name, timer, calls.Calls(id(name)))
			}
		})
	}
}

// refuseFirst refuses the first attempts of those that need it.
func refuseFirst(w http.ResponseWriter, r *http.Request, n int) {
	switch which := r.Header.Get("Wakecall-Business-Id"); {
	case n > 1:
	case which == id("tried again"):
		w.WriteHeader(http.StatusInternalServerError)
	case which == id("redelivered"):
		w.WriteHeader(http.StatusGone)
	}
}

// id is the business id of a timer of the tale.
func id(name string) string { return strings.ReplaceAll(name, " ", "-") }

func (p *production) book(name string, timer told, due time.Time) {
	body := contract.JSON{
		"business_type": p.kind, "business_id": id(name), "payload": 1,
		"due_at": due.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	maps.Copy(body, timer.books)
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
	p.api.Add(body)
}

// tell makes a timer's call. It need not take effect at once.
func (p *production) tell(name string, timer told) {
	if timer.method == "" {
		return
	}
	var body any
	if timer.body != nil {
		body = timer.body
	}
	path := "/v1/timers/" + p.kind + "/" + id(name) + timer.below
	if timer.below != "/redeliver" {
		path += "?wait=0s"
	}
	p.api.Do(timer.method, path, body, http.StatusOK, http.StatusAccepted)
}

func (p *production) check(name string, timer told, calls []receiver.Call) {
	require.Len(p.t, calls, len(timer.rings), name)
	for n, rings := range timer.rings {
		require.WithinRange(p.t, calls[n].At, rings.Add(-time.Second), rings.Add(takenOver), "%s, ring %d", name, n+1)
	}
	require.Equal(p.t, timer.status, p.api.Get(p.kind+"/"+id(name)).Status, name)
}

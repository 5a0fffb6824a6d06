package timers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// pausable is a type whose one-shot timers are paused and resumed.
type pausable struct {
	*testing.T
	env  *testenv.Env
	r    *receiver.Receiver
	kind string
}

func openPausable(t *testing.T) *pausable {
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	return &pausable{t, env, r, kind}
}

func (p *pausable) add(id string, terms testenv.JSON) {
	terms["business_type"], terms["business_id"] = p.kind, id
	p.env.Add(terms)
}

// do makes a call on a timer that takes effect.
func (p *pausable) do(method, path string, body any) recurring {
	p.Helper()
	reply := p.env.Do(method, "/v1/timers/"+p.kind+"/"+path, body)
	require.Equal(p, http.StatusOK, reply.Status, "%s", reply.Body)
	var shown recurring
	reply.Into(&shown)
	return shown
}

// passed has a timer ring that is due after those before it.
func (p *pausable) passed(id string) {
	p.Helper()
	p.add(id, testenv.JSON{"delay": "1500ms"})
	p.r.Await(p, id, 1)
}

// What is asked of a paused timer: it is moved and stays paused, rings by hand, is resumed by
// an edit or a PUT, and is cancelled.
func TestWhatAPausedTimerMeets(t *testing.T) {
	t.Parallel()
	p := openPausable(t)
	for _, id := range []string{"moved", "fired", "edited", "put", "cancelled"} {
		p.add(id, testenv.JSON{"delay": "1h", "paused": true})
	}
	require.Equal(t, "paused", p.do("PATCH", "moved?wait=20s", testenv.JSON{"delay": "10ms"}).Status)
	p.do("POST", "fired/fire?wait=20s", nil)
	p.r.Await(t, "fired", 1)
	require.Equal(t, "scheduled", p.do("PATCH", "edited?wait=20s", testenv.JSON{"paused": false}).Status)
	require.Equal(t, "scheduled", p.do("PUT", "put?wait=20s", testenv.JSON{"delay": "1h"}).Status)
	require.Equal(t, "cancelled", p.do("DELETE", "cancelled?wait=20s", nil).Status)
	p.passed("after")
	require.Empty(t, p.r.Calls("moved"))
	p.do("POST", "moved/resume?wait=20s", nil)
	p.r.Await(t, "moved", 1)

	refused := p.env.Do("POST", "/v1/timers", testenv.JSON{"business_type": p.kind, "business_id": "rule", "paused": true, "recurrence": testenv.JSON{"every": "1h"}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Contains(t, string(refused.Body), `"pointer":"/paused"`)
}

// Its own pause and that of its type hold a timer beside one another.
func TestAPausedTimerOfAPausedType(t *testing.T) {
	t.Parallel()
	p := openPausable(t)
	p.add("1", testenv.JSON{"delay": "10ms", "paused": true})
	policy := testenv.JSON{"callback": testenv.JSON{"url": p.r.URL}, "paused": true}
	p.env.Policy(p.kind, policy)
	p.do("POST", "1/resume?wait=20s", nil)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, string(p.env.Do("GET", "/v1/timers/"+p.kind+"/1", nil).Body), `"waits_for":"pause"`)
	}, testenv.Patience, testenv.Patience/100)
	p.do("POST", "1/pause?wait=20s", nil)
	policy["paused"] = false
	p.env.Policy(p.kind, policy)
	p.passed("after")
	require.Empty(t, p.r.Calls("1"))
	p.do("POST", "1/resume?wait=20s", nil)
	p.r.Await(t, "1", 1)
}

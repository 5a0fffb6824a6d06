package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
)

// away are policies whose engine does not answer.
type away struct{ pausedPolicies }

func (a away) Put(context.Context, policies.Change) (policies.Result, error) {
	return policies.Result{}, a.err
}

// Where the engine does not answer, the effect of a change is in doubt. A read and a dry run have none.
func TestOnlyTheEffectOfAChangeIsInDoubt(t *testing.T) {
	t.Parallel()
	down := kernel.Translate(errors.New("it is away"))
	f := openFront(t, Options{Policies: away{pausedPolicies{err: down}}, Emergencies: pausing{err: down, asked: new([]policy.EmergencyOrder)}})
	for _, c := range []struct {
		method, path, body string
		inDoubt            bool
	}{
		{http.MethodGet, "/v1/policies", "", false},
		{http.MethodGet, "/v1/emergency", "", false},
		{http.MethodPut, "/v1/policies/order?dry_run=true", `{}`, false},
		{http.MethodPut, "/v1/policies/order", `{}`, true},
		{http.MethodPatch, "/v1/policies/order?dry_run=true", `{"paused":true}`, false},
		{http.MethodPatch, "/v1/policies/order?dry_run=false", `{"paused":true}`, true},
		{http.MethodPost, "/v1/emergency/pause", `{"everything":true}`, true},
	} {
		text := c.method + " " + c.path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		if c.body != "" {
			text += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(c.body)) + "\r\n"
		}
		answers, bodies := f.say(c.method, text+"\r\n"+c.body)
		require.Equal(t, http.StatusServiceUnavailable, answers[0].StatusCode, bodies[0])
		var document problem.Document
		require.NoError(t, json.Unmarshal([]byte(bodies[0]), &document))
		require.Equal(t, wire.Unavailable, document.Code())
		want := "The timer engine did not answer. Repeat the request."
		if c.inDoubt {
			want = "The timer engine did not answer. The request may or may not have taken effect; repeat it."
		}
		require.Equal(t, want, document.Detail, "%s %s", c.method, c.path)
	}
}

package api

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/emergencies"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// pausedPolicies are one that pauses its type and one that does not; err is what a list fails
// with.
type pausedPolicies struct {
	policies.Policies
	err error
}

func (p pausedPolicies) List(context.Context) ([]policy.Policy, error) {
	if p.err != nil {
		return nil, p.err
	}
	return []policy.Policy{{BusinessType: "held", Paused: true, PausedBy: "ana", PausedAt: 7}, {BusinessType: "free"}}, nil
}

// A resumption says what is held all the same. That it cannot be read is said beside it: the
// resumption is in force, and no fault.
func TestAResumptionSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	down := &wire.Error{Code: wire.Unavailable}
	for name, c := range map[string]struct {
		body, answer string
		policies     pausedPolicies
		resuming     error
		status       int
	}{
		"everything":         {`{"everything":true}`, `{"paused":[{"business_type":"held","author":"ana","since":"1970-01-01T00:00:00.007Z","by_policy":true}]}`, pausedPolicies{}, nil, http.StatusOK},
		"a type of its own":  {`{"business_types":["free"]}`, `{"paused":[]}`, pausedPolicies{}, nil, http.StatusOK},
		"policies are away":  {`{"everything":true}`, `{"paused":[],"incomplete":true}`, pausedPolicies{err: down}, nil, http.StatusOK},
		"it was not resumed": {`{"everything":true}`, "", pausedPolicies{}, down, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFront(t, Options{Policies: c.policies, Emergencies: pausing{asked: new([]policy.EmergencyOrder), err: c.resuming}})
			answers, bodies := f.say(http.MethodPost, "POST /v1/emergency/resume HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
				"Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(c.body))+"\r\n\r\n"+c.body)
			require.Equal(t, c.status, answers[0].StatusCode, bodies[0])
			if c.answer != "" {
				require.JSONEq(t, c.answer, bodies[0])
			}
		})
	}
}

// pausing has everything paused, or a list that is no longer than it may be.
type pausing struct {
	emergencies.Emergencies
	types int
	err   error
	asked *[]policy.EmergencyOrder
}

func (p pausing) List(context.Context) ([]policy.Emergency, error) {
	if p.types > 0 {
		return []policy.Emergency{{BusinessType: "invoice", Author: "ops"}, {BusinessType: "order", Author: "ops"}}, p.err
	}
	return []policy.Emergency{{Everything: true, Author: "ops", Since: 7}}, p.err
}

func (p pausing) Pause(_ context.Context, order policy.EmergencyOrder) ([]policy.Emergency, error) {
	*p.asked = append(*p.asked, order)
	return order.Emergencies(7), p.err
}

func (p pausing) Resume(_ context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	*p.asked = append(*p.asked, order)
	return policy.Held{}, p.err
}

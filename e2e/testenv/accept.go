package testenv

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// Accepts puts a policy whose receiver answers 202.
func Accepts(env *Env, r *receiver.Receiver, kind string, more JSON) {
	policy := JSON{
		"callback": JSON{"url": r.On("/accept", receiver.Status(http.StatusAccepted))},
		"ack":      JSON{"within": "10m"}, "retry": JSON{"steps": []string{"10ms", "1h"}, "jitter": 0},
	}
	for name, value := range more {
		policy[name] = value
	}
	env.Policy(kind, policy)
}

// Nth is an attempt of a timer.
type Nth struct {
	Path   string
	Number int
}

// Accepted returns a timer and its delivery once an attempt has been accepted. For the first
// attempt it books the timer.
func Accepted(t testing.TB, env *Env, r *receiver.Receiver, of Nth) (Timer, client.Delivery) {
	t.Helper()
	kind, id, _ := strings.Cut(of.Path, "/")
	if of.Number == 1 {
		env.Add(JSON{"business_type": kind, "business_id": id, "delay": "0s"})
	}
	calls := r.Await(t, id, of.Number)
	var shown Timer
	require.Eventually(t, func() bool {
		shown = env.Get(of.Path)
		return !shown.AckUntil.IsZero() && shown.Attempts == of.Number
	}, Patience, Interval, "the 202 is recorded")
	return shown, client.DeliveryOf(calls[of.Number-1].Header)
}

// Patient is how long a call waits for its effect on a busy machine.
var Patient = client.After(30 * time.Second)

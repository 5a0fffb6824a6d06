package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// The negative control of the leak check in TestMain: a wait that is under way
// in the engine is seen, and gone once it is over.
func TestLeakCheckSees(t *testing.T) {
	env := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	kind := sample.Type(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": "https://example.com/"}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		env.Do("PATCH", "/v1/timers/"+kind+"/1?wait=2s", testenv.JSON{"delay": "2h"})
	}()
	require.Eventually(t, func() bool { return len(testenv.Running()) > 0 }, testenv.Patience, time.Millisecond, "the wait is under way")
	<-done
}

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
)

// The negative control of the leak check in TestMain: a wait that is under way
// in the engine is seen, and gone once it is over.
func TestLeakCheckSees(t *testing.T) {
	h := house.OpenWith(t, temporalAddr, house.Settings())
	kind := typeOf(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": "https://example.com/"}})
	h.Add(house.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Do("PATCH", "/v1/timers/"+kind+"/1?wait=2s", house.JSON{"delay": "2h"})
	}()
	require.Eventually(t, func() bool { return len(house.Running()) > 0 }, 2*time.Second, time.Millisecond, "the wait is under way")
	<-done
}

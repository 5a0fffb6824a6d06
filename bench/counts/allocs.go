package counts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

const (
	kind = "bench"
	adds = 500
)

// allocsPerAdd is the count [guard.AllocsPerAdd]: it adds timers through an API in this process, with Temporal in another one.
func allocsPerAdd(ctx context.Context) (allocs float64, err error) {
	s := stage.New(ctx)
	defer func() { _ = s.Close() }()
	err = s.Do(func() {
		server := process.NewStandalone(s)
		server.Start()
		settings := testenv.Settings()
		settings.PolicyTTL = time.Minute // a policy that is read again would be counted
		env := testenv.OpenWith(s, server.Addr("WAKECALL_TEMPORAL_ADDR"), settings)
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": "http://127.0.0.1:9000/"}})
		add := adder(s, env.URL)
		allocs = testing.AllocsPerRun(adds, add)
	})
	return allocs, err
}

// adder returns a function that adds a timer due far in the future.
func adder(s *stage.Stage, url string) func() {
	n := 0
	return func() {
		n++
		body, err := json.Marshal(testenv.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "24h"})
		if err != nil {
			s.Errorf("%v", err)
		}
		response, err := http.Post(url+"/v1/timers", "application/json", bytes.NewReader(body))
		if err != nil {
			s.Errorf("%v", err)
			return
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusCreated {
			s.Errorf("an add was answered %s (%v)", response.Status, err)
		}
	}
}

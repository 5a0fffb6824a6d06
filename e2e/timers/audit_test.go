package timers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/auth"
)

// recordsIn are the records of a file.
func recordsIn(t *testing.T, path string) (records []trail.Record) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		var one trail.Record
		require.NoError(t, json.Unmarshal(line, &one), "%s", line)
		records = append(records, one)
	}
	return records
}

// What the records say was changed, and by whom, is what the histories of the timers say.
func TestTheAuditAgreesWithTheHistories(t *testing.T) {
	t.Parallel()
	_, r, kind := testenv.Start(t)
	settings := testenv.Settings()
	settings.Audit = filepath.Join(t.TempDir(), "audit.log")
	settings.APIKeys = []auth.Key{keyEntry(t, "ops", ""), keyEntry(t, "shop", ":operator:"+kind), keyEntry(t, "guest", ":viewer:"+kind)}
	env := guarded{testenv.OpenWith(t, testenv.Addr, settings)}
	require.Equal(t, http.StatusCreated, env.as("ops", "PUT", "/v1/policies/"+kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/1", receiver.Status(204))}}).Status)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	lots := rand.New(rand.NewPCG(seed, 1))
	const timers, calls = 8, 300
	answers := map[string]int{}
	for i := range calls {
		id := fmt.Sprint(lots.IntN(timers))
		path := "/v1/timers/" + kind + "/" + id
		terms := testenv.JSON{"delay": fmt.Sprintf("%dm", 30+lots.IntN(3)), "payload": lots.IntN(2)}
		method, body := "GET", any(nil)
		switch lots.IntN(9) {
		case 0, 1:
			method, path, body = "POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h", "payload": "x"}
		case 2, 3:
			method, body = "PUT", terms
		case 4, 5:
			method, body = "PATCH", terms
		case 6:
			method = "DELETE"
		case 7:
			method, path = "POST", path+"/pause"
		}
		request := env.Request(method, path, body)
		if method != "GET" && path != "/v1/timers" {
			request = env.Request(method, path+"?wait=30s", body)
		}
		key := []string{"ops", "shop", "shop", "guest", "wrong"}[lots.IntN(5)]
		request.Header.Set("Authorization", "Bearer "+key)
		request.Header.Set("X-Request-Id", fmt.Sprint("r-", i))
		reply := env.Send(request)
		if method != "GET" {
			answers[fmt.Sprint("r-", i)] = reply.Status
		}
	}
	records := map[string]trail.Record{}
	for _, one := range recordsIn(t, settings.Audit) {
		require.NotContains(t, records, one.RequestID)
		records[one.RequestID] = one
	}
	require.Len(t, records, len(answers)+1, "and the policy")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		made := map[string]int{}
		for id := range timers {
			for _, entry := range wholeStory(env, "/v1/timers/"+kind+"/"+fmt.Sprint(id)) {
				countMade(c, made, records, entry)
			}
		}
		for id, status := range answers {
			one := records[id]
			require.Equal(c, status, one.Status, id)
			if one.Outcome == trail.Unknown { // Temporal did not answer in time
				require.LessOrEqual(c, made[id], 1, "%s: %+v", id, one)
				continue
			}
			changed := one.Outcome == trail.Done || one.Outcome == trail.Accepted
			require.Equal(c, changed, made[id] == 1, "%s: %+v, %d in the histories", id, one, made[id])
		}
		require.Greater(c, len(made), calls/10)
	}, testenv.Patience, 500*time.Millisecond, "visibility lags behind with the bookings before the last one")
}

// countMade counts what an entry of a history says was made, by the request. It holds the entry to the record of
// that request.
func countMade(c *assert.CollectT, made map[string]int, records map[string]trail.Record, entry timer.HistoryEntry) {
	if entry.Who == nil || entry.Event == timer.HistoryCancelled {
		return
	}
	one, ok := records[entry.Who.RequestID]
	require.True(c, ok, "%+v", entry)
	require.Equal(c, one.Who.Name, entry.Who.Name)
	require.Equal(c, one.Who.Role, entry.Who.Role)
	if entry.Event == timer.HistoryChanged && (entry.Result != timer.HistoryApplied || entry.Revision == 0) {
		return // it was refused, or said nothing new
	}
	made[one.RequestID]++
}

// wholeStory is the story of a timer, of all its bookings that visibility has heard of.
func wholeStory(env guarded, path string) (entries []timer.HistoryEntry) {
	if env.as("ops", "GET", path, nil).Status == http.StatusNotFound {
		return nil
	}
	for token := ""; ; {
		var page struct {
			Entries       []timer.HistoryEntry
			NextPageToken string `json:"next_page_token"`
		}
		env.as("ops", "GET", path+"/history?page_size=100&page_token="+token, nil).Into(&page)
		entries = append(page.Entries, entries...)
		if token = page.NextPageToken; token == "" {
			return entries
		}
	}
}

// Each record is delivered as a timer is, and signed. Without a policy that says whom to,
// nothing is carried out but what puts it there.
func TestEventsOfTheAudit(t *testing.T) {
	t.Parallel()
	_, r, kind := testenv.Start(t)
	settings := testenv.Settings()
	settings.Audit, settings.AuditType = filepath.Join(t.TempDir(), "audit.log"), kind+".audit"
	env := testenv.OpenWith(t, testenv.Addr, settings)
	booking := testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h", "payload": "secret", "callback": testenv.JSON{"url": r.URL + "/1"}}
	refused := env.Do("POST", "/v1/timers", booking)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/1", nil).Status, "it was not carried out")

	url := r.On("/audit", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 { // as any receiver may: the ladder goes on
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	env.Policy(settings.AuditType, testenv.JSON{
		"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{"1ms", "10ms"}}, "signing_secrets": []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	})
	env.Add(booking)
	require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/1", nil).Status)
	require.Equal(t, http.StatusNotFound, env.Do("DELETE", "/v1/timers/"+kind+"/2", nil).Status)
	records := recordsIn(t, settings.Audit)
	require.Len(t, records, 4, "what was not carried out has none")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for _, one := range records {
			var event trail.Record
			for _, call := range r.All() {
				if call.ID() == one.ID {
					assert.NotEmpty(c, call.Header.Get("Webhook-Signature"))
					require.NoError(c, json.Unmarshal(call.Body, &event))
				}
			}
			assert.Equal(c, one, event)
			assert.Equal(c, "delivered", env.Do("GET", "/v1/timers/"+settings.AuditType+"/"+one.ID, nil).Timer().Status)
		}
	}, testenv.Patience, testenv.Interval, "each record arrives")
}

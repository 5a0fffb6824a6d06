package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/trails"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A refused call is recorded with what it was aimed at, whether its caller may make no such call at all or
// may make it for other types, so that the admins of those types see it.
func TestARefusedCallIsRecordedWithItsAim(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	recent := audit.NewRecent(time.Now())
	logger := slog.New(slog.DiscardHandler)
	log := audit.NewLog(audit.NewLines(&written, logger), recent)
	server := New(Options{
		Timers:      apitimers.Options{Timers: silent{}, Failures: silent{}},
		Front:       front.Options{Telemetry: unmetered{}, Logger: logger, Auth: keysOfThree(t), Audit: log},
		Bulk:        &bulkJobs{},
		Emergencies: emergencyLedger{},
		Reports:     Reports{Trails: trails.Options{Records: recent}},
	})
	many := make([]string, 2*tuning.AuditTypes)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("t", i))
	}
	aimed := func(types ...string) trail.Target { return trail.Target{BusinessTypes: types} }
	for name, c := range map[string]struct {
		method, path, body string
		want               trail.Target
	}{
		"a pause":               {"POST", "/v1/emergency/pause", `{"business_types":["foreign"],"note":"x"}`, aimed("foreign")},
		"a pause of two":        {"POST", "/v1/emergency/pause", `{"business_types":["foreign","order","foreign"]}`, aimed("foreign", "order")},
		"a resumption":          {"POST", "/v1/emergency/resume", `{"business_types":["foreign"]}`, aimed("foreign")},
		"a pause of everything": {"POST", "/v1/emergency/pause", `{"everything":true}`, trail.Target{Everything: true}},
		"a job":                 {"POST", "/v1/bulk", `{"operation":"cancel","filter":{"business_type":"foreign"}}`, trail.Target{BusinessType: "foreign"}},
		"a booking":             {"POST", "/v1/timers", `{"business_type":"foreign","business_id":"1","delay":"1h"}`, trail.Target{BusinessType: "foreign"}},
		"a dispatch":            {"POST", "/v1/dispatches", `{"business_type":"foreign","business_id":"1","per_second":1,"items":[{"item_id":"1"}]}`, trail.Target{BusinessType: "foreign"}},
		"no type":               {"POST", "/v1/emergency/pause", `{"business_types":["` + strings.Repeat("x", 5000) + `",""],"filter":{"business_type":"\u0000"}}`, trail.Target{}},
		"another kind":          {"POST", "/v1/emergency/pause", `{"business_types":"foreign","filter":7,"everything":"yes"}`, trail.Target{}},
		"nothing":               {"POST", "/v1/bulk", ``, trail.Target{}},
	} {
		for _, key := range []string{"secret", "guest"} {
			written.Reset()
			request := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			request.Header.Set("Authorization", "Bearer "+key)
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, request)
			require.GreaterOrEqual(t, answer.Code, 400, name)
			var record trail.Record
			require.NoError(t, jsonv2.Unmarshal(written.Bytes(), &record))
			require.Equal(t, trail.Refused, record.Outcome, name)
			require.Equal(t, c.want, record.Target, "%s by %s: %s", name, key, answer.Body)
			require.Empty(t, record.Changes)
		}
	}
	recordOf := func(method, path, body string) (record trail.Record) {
		written.Reset()
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer guest")
		request.Header.Set("Content-Type", "application/json")
		server.Handler().ServeHTTP(httptest.NewRecorder(), request)
		require.NoError(t, jsonv2.Unmarshal(written.Bytes(), &record))
		return record
	}
	require.Len(t, recordOf("POST", "/v1/emergency/pause", `{"business_types":[`+strings.Join(many, ",")+`]}`).Target.BusinessTypes, tuning.AuditTypes)
	batch := `{"timers":[{"business_type":"foreign"},{"business_type":"order"},{"business_type":"order"}]}`
	require.Equal(t, aimed("foreign", "order"), recordOf("POST", "/v1/timers/batch", batch).Target)
	long := `{"business_types":["foreign"],"note":"` + strings.Repeat("x", tuning.AuditBody) + `"}`
	require.Zero(t, recordOf("POST", "/v1/emergency/pause", long).Target, "a body has a bound")
	require.Equal(t, aimed("order"), recordOf("POST", "/v1/emergency/pause", `{"business_types":["order"]}`).Target)

	request := httptest.NewRequest("GET", "/v1/audit?outcome=refused&business_type=order", nil)
	request.Header.Set("Authorization", "Bearer secret")
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, request)
	require.Contains(t, answer.Body.String(), `"target":{"business_types":["order"]}`, "an admin of the type sees it")
}

// A batch that is carried out is recorded with the business types of its timers, so that a search for a type
// and the admins of the type find it. One of its timers is refused here, and named as well.
func TestABatchIsRecordedWithItsTypes(t *testing.T) {
	t.Parallel()
	recent := audit.NewRecent(time.Now())
	made := &ledger{lots: rand.New(rand.NewPCG(1, 1)), made: map[string]int{}}
	server := New(Options{
		Timers:  apitimers.Options{Timers: made, Failures: made},
		Front:   front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: keysOfThree(t), Audit: audit.NewLog(recent)},
		Reports: Reports{Trails: trails.Options{Records: recent}},
	})
	ask := func(method, path, body string) string {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		require.Equal(t, 200, answer.Code, answer.Body)
		return answer.Body.String()
	}
	timers := func(kinds ...string) string {
		for i, kind := range kinds {
			kinds[i] = `{"business_type":"` + kind + `","business_id":"1","delay":"1h","callback":{"url":"https://example.com"}}`
		}
		return `{"timers":[` + strings.Join(kinds, ",") + `]}`
	}
	ask("POST", "/v1/timers/batch", timers("order", "order"))
	ask("POST", "/v1/timers/batch", timers("order", "foreign"))
	listed := ask("GET", "/v1/audit?business_type=order", "")
	require.Equal(t, 1, strings.Count(listed, `"target":{"business_types":["order"]},"left_out":2`), "an admin of the type sees its batches: %s", listed)
	require.NotContains(t, listed, "foreign", "and none that is also about another type")
	require.Contains(t, listed, `"who":{"name":"shop","role":"admin","by":"key"}`, "the role for the types of the batch")
}

package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/front"
	apijobs "github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/internal/auth"
)

// bulkJobs are jobs of the business type order.
type bulkJobs struct {
	started []job.Bulk
	again   bool
	keyed   bool
}

func (b *bulkJobs) job(order job.Bulk) bulk.Job {
	seven := 7
	return bulk.Job{ID: order.ID, Status: job.Running, Order: order, Again: b.again, StartedAt: 1,
		Counts: job.BulkProgress{Tally: job.Tally{Found: &seven, Done: 3}}}
}

func (b *bulkJobs) Start(_ context.Context, order job.Bulk) (bulk.Job, error) {
	b.started = append(b.started, order)
	return b.job(order), nil
}

func (b *bulkJobs) Get(_ context.Context, id string) (bulk.Job, error) {
	return b.job(job.Bulk{ID: id, Operation: job.Cancel, Filter: timer.Filter{BusinessType: "order"}}), nil
}

func (b *bulkJobs) List(context.Context, jobs.Request) ([]bulk.Job, []byte, error) {
	return []bulk.Job{b.job(job.Bulk{ID: "a", Filter: timer.Filter{BusinessType: "order"}}), b.job(job.Bulk{ID: "all"})}, nil, nil
}

func (b *bulkJobs) Stop(ctx context.Context, id string, _ time.Duration) (bulk.Job, error) {
	j, err := b.Get(ctx, id)
	j.Status = job.Stopped
	return j, err
}

func (b *bulkJobs) Results(_ context.Context, _ string, see func(job.Line) error) error {
	for _, id := range []string{"1", "2"} {
		line := job.Line{Key: wire.Key{BusinessType: "order", BusinessID: id}, Outcome: job.Outcome{Result: job.ResultSkipped, Code: wire.AlreadyFinished, Status: timer.Delivered}}
		if err := see(line); err != nil {
			return err
		}
	}
	return nil
}

// bulkDoor makes calls of an API with these jobs.
func bulkDoor(jobs *bulkJobs, authenticator *auth.Authenticator) func(method, path, body string) (status int, answer string) {
	server := New(Options{
		Timers: timers.Options{Timers: silent{}, Failures: silent{}},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: authenticator},
		Bulk:   jobs,
	})
	return func(method, path, body string) (status int, answer string) {
		request := httptest.NewRequest(method, here+path, strings.NewReader(body))
		if jobs.keyed {
			request.Header.Set("Authorization", "Bearer secret")
		}
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		recorder := httptest.NewRecorder()
		server.Handler().ServeHTTP(recorder, request)
		return recorder.Code, recorder.Body.String()
	}
}

// What an edit takes away changes nothing of what it keeps.
func TestBulkKeepsThePayloadOfAnEdit(t *testing.T) {
	t.Parallel()
	order, err := apijobs.ReadBulk(decode.Object{
		"operation": jsontext.Value(`"edit"`), "filter": jsontext.Value(`{}`),
		"edit": jsontext.Value(`{"payload": { "a" : "\u003c" }, "on_failed": {}}`),
	}, delivery.Reach{})
	require.NoError(t, err)
	require.Equal(t, `{ "a" : "\u003c" }`, string(order.Edit.Payload.Data))
	require.Equal(t, &delivery.Alert{}, order.Edit.OnFailed)
}

// What is wrong with an order is named field by field, and starts nothing.
func TestBulkOrdersThatAreRefused(t *testing.T) {
	t.Parallel()
	jobs := &bulkJobs{}
	ask := bulkDoor(jobs, auth.Anyone())
	for body, pointers := range map[string]string{
		`{}`:                                 "/filter /operation",
		`{"operation":"cancel"}`:             "/filter",
		`{"operation":"cancel","filter":[]}`: "/filter",
		`{"operation":"delete","filter":{}}`: "/operation",
		`{"operation":7,"filter":{}}`:        "/operation",
		`{"operation":"cancel","filter":{"business_type":""}}`:                                                       "/filter/business_type",
		`{"operation":"cancel","filter":{"business_id":""}}`:                                                         "/filter/business_id",
		`{"operation":"cancel","filter":{"status":""}}`:                                                              "/filter/status",
		`{"operation":"cancel","filter":{"status":"failed"}}`:                                                        "/filter/status",
		`{"operation":"cancel","filter":{"due_from":"soon"}}`:                                                        "/filter/due_from",
		`{"operation":"cancel","filter":{"due_from":"2027-01-02T00:00:00Z","due_to":"2027-01-01T00:00:00Z"}}`:        "/filter/due_to",
		`{"operation":"cancel","filter":{"color":"red"}}`:                                                            "/filter/color",
		`{"operation":"cancel","filter":{},"shift":"1h"}`:                                                            "/shift",
		`{"operation":"move","filter":{}}`:                                                                           "/shift",
		`{"operation":"move","filter":{},"shift":"0s"}`:                                                              "/shift",
		`{"operation":"move","filter":{},"shift":"soon"}`:                                                            "/shift",
		`{"operation":"edit","filter":{}}`:                                                                           "/edit",
		`{"operation":"edit","filter":{},"edit":{}}`:                                                                 "/edit",
		`{"operation":"edit","filter":{},"edit":{"delay":"1h"}}`:                                                     "/edit/delay",
		`{"operation":"edit","filter":{},"edit":{"on_failed":{},"delay":"1h"}}`:                                      "/edit/delay",
		`{"operation":"edit","filter":{},"edit":{"priority":0}}`:                                                     "/edit/priority",
		`{"operation":"edit","filter":{},"edit":{"business_type":"a","priority":1}}`:                                 "/edit/business_type",
		`{"operation":"edit","filter":{},"edit":{"payload":1,"payload_base64":"AA=="}}`:                              "/edit/payload_base64",
		`{"operation":"edit","filter":{},"edit":{"callback":{"broker":"none","exchange":"a"}}}`:                      "/edit/callback/broker",
		`{"operation":"cancel","filter":{},"per_second":0}`:                                                          "/per_second",
		`{"operation":"cancel","filter":{},"per_second":"fast"}`:                                                     "/per_second",
		`{"operation":"cancel","filter":{},"id":""}`:                                                                 "/id",
		`{"operation":"cancel","filter":{},"id":"a b"}`:                                                              "/id",
		`{"operation":"cancel","filter":{},"dry_run":"yes"}`:                                                         "/dry_run",
		`{"operation":"cancel","filter":{},"counted":""}`:                                                            "/counted",
		`{"operation":"cancel","filter":{},"counted":"a","dry_run":true}`:                                            "/counted",
		`{"operation":"cancel","filter":{},"dryrun":true}`:                                                           "/dryrun",
		`{"operation":"redeliver","filter":{"status":"scheduled"}}`:                                                  "/filter/status",
		`{"operation":"redeliver","filter":null}`:                                                                    "/filter",
		`{"operation":"redeliver","filter":{"business_type":"A'","status":"delivered"},"per_second":0}`:              "/filter/status /filter/business_type /per_second",
		`{"operation":"redeliver","filter":{"ended_from":"now","due_from":"then"},"per_second":"1"}`:                 "/filter/due_from /filter/ended_from /per_second",
		`{"operation":"redeliver","filter":{"ended_from":"2026-01-02T00:00:00Z","ended_to":"2026-01-01T00:00:00Z"}}`: "/filter/ended_to",
		`{"operation":"redeliver","filter":{},"per_second":1001}`:                                                    "/per_second",
	} {
		status, answer := ask("POST", "/v1/bulk", body)
		require.Equal(t, http.StatusUnprocessableEntity, status, "%s %s", body, answer)
		var problem problem.Document
		require.NoError(t, json.Unmarshal([]byte(answer), &problem))
		var named []string
		for _, fieldErr := range problem.Errors {
			named = append(named, fieldErr.Pointer)
		}
		require.ElementsMatch(t, strings.Fields(pointers), named, body)
	}
	require.Empty(t, jobs.started)
}

func TestBulkOrders(t *testing.T) {
	t.Parallel()
	jobs := &bulkJobs{}
	ask := bulkDoor(jobs, auth.Anyone())
	status, answer := ask("POST", "/v1/bulk", `{"operation":"move","shift":"-30m","filter":{"business_type":"order","status":"scheduled"},"id":"a","dry_run":true}`)
	require.Equal(t, http.StatusAccepted, status, answer)
	require.Equal(t, job.Bulk{
		ID: "a", Operation: job.Move, Shift: wire.Duration(-30 * time.Minute), PerSecond: job.DefaultRate, DryRun: true,
		Filter: timer.Filter{BusinessType: "order", Status: timer.Scheduled},
	}, jobs.started[0])
	require.JSONEq(t, `{"id":"a","operation":"move","status":"running","found":7,"done":3,"skipped":0,"failed":0,
		"filter":{"business_type":"order","status":"scheduled"},"shift":"-30m","per_second":50,"dry_run":true,
		"started_at":"1970-01-01T00:00:00.001Z","links":{}}`, answer)
	jobs.again = true
	status, _ = ask("POST", "/v1/bulk", `{"operation":"edit","edit":{"priority":2,"callback":{"url":"http://bücher.example/"}},"filter":{}}`)
	require.Equal(t, http.StatusOK, status, "it was ordered before")
	require.NotEmpty(t, jobs.started[1].ID, "it is made up")
	require.Equal(t, "http://xn--bcher-kva.example/", jobs.started[1].Edit.Callback.URL)
	_, answer = ask("POST", "/v1/bulk", `{"operation":"cancel","filter":{},"counted":"a"}`)
	require.Equal(t, "a", jobs.started[2].Counted)
	require.Contains(t, answer, `"counted":"a"`)
}

// A caller may read the first results alone.
func TestTheFirstResults(t *testing.T) {
	t.Parallel()
	ask := bulkDoor(&bulkJobs{}, auth.Anyone())
	for count, want := range map[string]int{"": 2, "?count=1": 1, "?count=2": 2, "?count=1000": 2} {
		status, answer := ask("GET", "/v1/bulk/a/results"+count, "")
		require.Equal(t, http.StatusOK, status, count)
		require.Equal(t, want, strings.Count(answer, "\n"), count)
	}
	for _, wrong := range []string{"0", "-1", "1001", "all"} {
		status, answer := ask("GET", "/v1/bulk/a/results?count="+wrong, "")
		require.Equal(t, http.StatusUnprocessableEntity, status, wrong)
		require.Contains(t, answer, `"pointer":"count"`)
	}
}

// A key for some business types orders jobs of these alone, and sees no others.
func TestBulkIsForTheKeysOfItsType(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int{":operator:order": http.StatusAccepted, ":operator:invoice": http.StatusForbidden} {
		jobs := &bulkJobs{keyed: true}
		ask := bulkDoor(jobs, authOf(t, "shop", key))
		status, _ := ask("POST", "/v1/bulk", `{"operation":"cancel","filter":{"business_type":"order"}}`)
		require.Equal(t, want, status)
		status, _ = ask("POST", "/v1/bulk", `{"operation":"cancel","filter":{}}`)
		require.Equal(t, http.StatusForbidden, status, "of all types")
		allowed := want == http.StatusAccepted
		require.Equal(t, allowed, len(jobs.started) == 1)
		for path, shown := range map[string]string{
			"/v1/bulk/a": `"id":"a"`,
			"/v1/bulk/a/results": `{"business_type":"order","business_id":"1","result":"skipped","code":"already-finished","timer_status":"delivered"}
{"business_type":"order","business_id":"2",`,
		} {
			status, answer := ask("GET", path, "")
			require.Equal(t, allowed, status == http.StatusOK, path)
			require.Equal(t, !allowed, status == http.StatusNotFound, "%s is absent for others", path)
			require.Equal(t, allowed, strings.Contains(answer, shown), answer)
		}
		status, _ = ask("DELETE", "/v1/bulk/a", "")
		require.Equal(t, allowed, status == http.StatusOK)
		status, answer := ask("GET", "/v1/bulk", "")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, allowed, strings.Contains(answer, `"id":"a"`), "a list leaves out the jobs of other types")
		require.NotContains(t, answer, `"id":"all"`, "and those of all types")
	}
}

package timers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// stage is one state that a timer can be in when an operator ends it.
type stage struct {
	// reach books a timer and brings it there.
	reach func(*scene, string)
	// calls is how often the receiver has been called by then.
	calls int
	// answer is what the attempt in flight is answered, if one is.
	answer int
}

// scene is where the stages are played.
type scene struct {
	*testenv.Env
	t      *testing.T
	kind   string
	r      *receiver.Receiver
	answer chan int
}

// ahead is far enough for every command to come before the timer would ring,
// and near enough to see that it does not.
const ahead = "30s"

var stages = map[string]stage{
	"scheduled": {reach: func(s *scene, id string) { s.Add(sample.Booking(s.kind, id, ahead, s.r.URL)) }},
	"moved": {reach: func(s *scene, id string) {
		s.Add(sample.Booking(s.kind, id, "1h", s.r.URL))
		require.Equal(s.t, http.StatusOK, s.Do("PATCH", s.path(id), testenv.JSON{"delay": ahead}).Status)
	}},
	"between-retries": {reach: func(s *scene, id string) {
		s.book(id, s.r.On("/down", receiver.Status(http.StatusInternalServerError)), ahead)
		s.Await(s.kind+"/"+id, "delivering")
		s.r.Await(s.t, id, 1)
	}, calls: 1},
	"first-attempt-taken":   {reach: (*scene).hangAtFirst, calls: 1, answer: http.StatusOK},
	"first-attempt-refused": {reach: (*scene).hangAtFirst, calls: 1, answer: http.StatusInternalServerError},
	"retry-taken":           {reach: (*scene).hangAtSecond, calls: 2, answer: http.StatusOK},
	"retry-refused":         {reach: (*scene).hangAtSecond, calls: 2, answer: http.StatusInternalServerError},
}

// id makes a business id that no other scene has.
func (s *scene) id(stage string) string { return s.kind + "." + stage }

func (s *scene) path(id string) string { return "/v1/timers/" + s.kind + "/" + id }

// book books a timer that is due now, and retried after the given waits.
func (s *scene) book(id, url string, steps ...string) {
	body := sample.Booking(s.kind, id, "0s", url)
	body["callback"] = testenv.JSON{"url": url, "timeout": "1m"} // an attempt outlasts the start of a program
	body["retry"] = testenv.JSON{"steps": steps, "jitter": 0}
	s.Add(body)
}

func (s *scene) hangAtFirst(id string) {
	s.book(id, s.r.On("/first/"+id, s.hangFrom(1)), "10ms", "10ms")
	s.r.Await(s.t, id, 1)
}

func (s *scene) hangAtSecond(id string) {
	s.book(id, s.r.On("/second/"+id, s.hangFrom(2)), "10ms", "10ms")
	s.r.Await(s.t, id, 2)
}

func (s *scene) hangFrom(n int) receiver.Answer {
	return func(w http.ResponseWriter, r *http.Request, call int) {
		if call < n {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		select {
		case code := <-s.answer:
			w.WriteHeader(code)
		case <-r.Context().Done(): // the test has failed
		}
	}
}

func TestEndedByTheProgramsOfTemporal(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
	// One worker alone: only the one that made an attempt holds its receipt.
	env, r := testenv.Open(t, addr), receiver.New(t)
	env.StartWorker()
	for name, ending := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scene{Env: env, t: t, r: r, kind: strings.ReplaceAll(name, " ", "-"), answer: make(chan int)}
			for name, stage := range stages {
				id := s.id(name)
				stage.reach(s, id)
				process.Execute(t, ending.Program(t), "--address", addr, "workflow", ending.Verb, "-w", s.kind+"/"+id)
				if stage.answer != 0 {
					s.answer <- stage.answer
				}
				s.Await(s.kind+"/"+id, stage.left(ending))
			}
			s.awaitSilence()
			for name, stage := range stages {
				id := s.id(name)
				require.Len(t, r.Calls(id), stage.calls, "%s rang again", id)
				s.requireEnd(id, stage.left(ending))
			}
		})
	}
}

// left is the status of a timer in that state that was ended so.
func (s stage) left(by process.Ending) string {
	if s.answer == http.StatusOK && !by.Abrupt {
		return "delivered" // the receiver took it before it could be called off
	}
	return "cancelled"
}

// awaitSilence returns when every timer of the stages would have rung.
func (s *scene) awaitSilence() {
	s.Add(sample.Booking(s.kind, s.id("sentinel"), ahead, s.r.URL))
	s.r.Await(s.t, s.id("sentinel"), 1)
}

// requireEnd shows that the API agrees with the operator about a timer.
func (s *scene) requireEnd(id, status string) {
	s.t.Helper()
	cancel, book := http.StatusOK, http.StatusCreated
	if status == "delivered" {
		cancel, book = http.StatusConflict, http.StatusConflict
	}
	require.Equal(s.t, cancel, s.Do("DELETE", s.path(id), nil).Status, id)
	require.Equal(s.t, book, s.Do("POST", "/v1/timers", sample.Booking(s.kind, id, "1h", s.r.URL)).Status, id)
}

func TestCancelledByQuery(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	other, policy := kind+"-other", testenv.JSON{"callback": testenv.JSON{"url": r.URL}}
	env.Policy(kind, policy)
	env.Policy(other, policy)
	const n = 50
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("%s/%d", kind, i))
		for _, businessType := range []string{kind, other} {
			env.Add(testenv.JSON{"business_type": businessType, "business_id": fmt.Sprint(i), "delay": "24h"})
		}
	}
	testenv.AwaitListed(t, fmt.Sprintf("WorkflowType='WakecallTimer' AND BusinessType=%q", kind), ids...)
	// as docs/operations.md says it
	testenv.CLI(t, "workflow", "cancel", "--query", fmt.Sprintf(`WorkflowType="WakecallTimer" AND BusinessType=%q`, kind), "--reason", "closed", "--yes")
	for i, id := range ids {
		env.Await(id, "cancelled")
		require.Equal(t, "scheduled", env.Get(fmt.Sprintf("%s/%d", other, i)).Status)
	}
	for _, businessType := range []string{kind, other} {
		reply := env.Do("GET", "/v1/policies/"+businessType, nil)
		require.Equal(t, http.StatusOK, reply.Status, "cancelling timers must leave the policy of %s", businessType)
	}
}

func TestFoundByQuery(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	due := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	for id, hours := range map[string]int{"a": 0, "b": 1, "c": 2} {
		body := sample.Booking(kind, id, "", r.URL)
		delete(body, "delay")
		body["due_at"] = due.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
		env.Add(body)
	}
	env.Add(sample.Booking(kind, "moved", "1h", r.URL))
	moved := testenv.JSON{"due_at": due.Add(3 * time.Hour).Format(time.RFC3339)}
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/moved", moved).Status)

	within := fmt.Sprintf("BusinessType=%q AND ExecutionTime BETWEEN %q AND %q", kind,
		due.Add(30*time.Minute).Format(time.RFC3339), due.Add(200*time.Minute).Format(time.RFC3339))
	all := []string{kind + "/a", kind + "/b", kind + "/c", kind + "/moved"}
	testenv.AwaitListed(t, fmt.Sprintf("BusinessType=%q", kind), all...)
	testenv.AwaitListed(t, within, all[1:]...)
	testenv.AwaitListed(t, fmt.Sprintf("BusinessType=%q AND BusinessId=%q", kind, "c"), kind+"/c")
	testenv.AwaitListed(t, fmt.Sprintf("BusinessType=%q AND BusinessId=%q", kind, "nobody"))
}

// summaryOf is what a workflow is called in front of an operator.
func summaryOf(t *testing.T, workflowID string) string {
	t.Helper()
	var described struct {
		Config struct {
			UserMetadata struct {
				Summary json.RawMessage `json:"summary"`
			} `json:"userMetadata"`
		} `json:"executionConfig"`
	}
	printed := testenv.CLI(t, "workflow", "describe", "-o", "json", "-w", workflowID)
	require.NoError(t, json.Unmarshal([]byte(printed), &described), "%s", printed)
	return string(described.Config.UserMetadata.Summary)
}

func TestSummary(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Add(sample.Booking(kind, "order-1", "1h", r.URL))
	require.Contains(t, summaryOf(t, kind+"/order-1"), r.URL)
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/order-1", testenv.JSON{"delay": "2h"}).Status)
	require.Empty(t, summaryOf(t, kind+"/order-1"),
		"Temporal 1.32.1 drops it when a workflow continues as new; once it does not, say so in the docs")
}

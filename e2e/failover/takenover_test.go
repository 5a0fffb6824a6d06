package failover

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// takenOver is a deployment in which one worker has died with timers of many seconds in its hands,
// and another one has taken them over.
type takenOver struct {
	*testenv.Env

	receiver *receiver.Receiver
	kind     string
	// runs are the runs that the dead worker had, and due are their due times, by business id.
	runs map[string]string
	due  map[string]time.Time
}

// rounds is how often timers are booked anew that were due before they were met: a busy machine is behind
// with them, and of those nothing is known. Each round has fewer of them.
const rounds = 5

// beforeDue is how long before they are due timers are booked whose worker dies. A slow machine needs most of
// it until another worker has them all; a policy allows no more than a minute.
const beforeDue = 55 * time.Second

// dying is the connection of a worker that gets timers and does nothing with them: the workers of a
// process share the workflows that they have.
type dying struct{ cut }

//nolint:revive // gRPC's own arguments
func (d *dying) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := d.cut.intercept(ctx, method, request, reply, conn, invoke, options...)
	switch answer := reply.(type) {
	case *workflowservice.StartWorkflowExecutionResponse:
		answer.EagerWorkflowTask = nil
	case *workflowservice.PollWorkflowTaskQueueResponse:
		if answer.GetWorkflowType().GetName() == workflows.TypeTimer {
			answer.Reset()
		}
	}
	return err
}

// startDying starts a worker that gets what is due soon as it is booked, and dies at die.
func startDying(t testing.TB, addr string) (env *testenv.Env, die func()) {
	t.Helper()
	return startDyingWith(t, addr, testenv.Settings())
}

func startDyingWith(t testing.TB, addr string, settings config.Config) (env *testenv.Env, die func()) {
	t.Helper()
	var connection dying
	env = testenv.OpenThrough(t, addr, settings, connection.intercept)
	env.StartWorkerBeside()
	return env, func() { t.Cleanup(connection.begin()) }
}

// meetings are what meets a timer that another worker takes over: before that, when no worker hears
// of it, or after.
var meetings = map[string]struct {
	before       bool
	method, path string
	body         testenv.JSON
	rings        int
	status       string
}{
	"rings":                {false, "", "", nil, 1, "delivered"},
	"fails":                {false, "", "", nil, 2, "delivered"},
	"recurring":            {false, "", "", nil, 1, "scheduled"},
	"cancelled":            {false, "DELETE", "", nil, 0, "cancelled"},
	"moved-later":          {false, "PATCH", "", testenv.JSON{"delay": "1h"}, 0, "scheduled"},
	"moved-earlier":        {false, "PATCH", "", testenv.JSON{"delay": "100ms"}, 1, "delivered"},
	"edited":               {false, "PATCH", "", testenv.JSON{"payload": testenv.JSON{"n": 2}}, 1, "delivered"},
	"paused":               {false, "POST", "/pause", nil, 0, "paused"},
	"fired":                {false, "POST", "/fire", nil, 1, "delivered"},
	"cancelled-before":     {true, "DELETE", "", nil, 0, "cancelled"},
	"moved-later-before":   {true, "PATCH", "", testenv.JSON{"delay": "1h"}, 0, "scheduled"},
	"moved-earlier-before": {true, "PATCH", "", testenv.JSON{"delay": "100ms"}, 1, "delivered"},
	"edited-before":        {true, "PATCH", "", testenv.JSON{"payload": testenv.JSON{"n": 2}}, 1, "delivered"},
	"paused-before":        {true, "POST", "/pause", nil, 0, "paused"},
	"fired-before":         {true, "POST", "/fire", nil, 1, "delivered"},
	"booked-anew-before":   {true, "PUT", "", testenv.JSON{"delay": "100ms"}, 1, "delivered"},
}

// takeOver books the timers of meetings, lets their worker die, and waits until another one has taken the
// timers over.
func takeOver(t testing.TB, names []string) takenOver {
	t.Helper()
	addr := testenv.Alone(t)
	dead, die := startDying(t, addr)
	o := takenOver{testenv.Open(t, addr), receiver.New(t), sample.Type(t), map[string]string{}, map[string]time.Time{}}
	o.Policy(o.kind, testenv.JSON{"callback": testenv.JSON{"url": o.receiver.URL}, "preload": "1m"})
	if slices.Contains(names, "recurring") { // Temporal hands it out, which takes a while
		o.book(t, dead, "recurring")
	}
	for _, name := range names {
		if name != "recurring" {
			o.book(t, dead, name)
		}
	}
	die()
	for _, name := range names {
		if m := meetings[name]; m.before {
			reply := o.Do(m.method, "/v1/timers/"+o.kind+"/"+name+m.path+"?wait=0s", m.body)
			require.Equal(t, http.StatusAccepted, reply.Status, "%s: %s", name, reply.Body)
		}
	}
	o.StartWorker()
	for _, name := range names {
		if !meetings[name].before {
			o.awaitTaken(t, name)
		}
	}
	return o
}

// isDue reports whether a timer is due by now.
func (o takenOver) isDue(name string) bool { return !time.Now().Before(o.due[name]) }

// book books the timer of a meeting, and waits until the worker that dies has it.
func (o takenOver) book(t testing.TB, dead *testenv.Env, name string) {
	t.Helper()
	booking := sample.Booking(o.kind, name, beforeDue.String(), o.receiver.URL)
	switch name {
	case "fails":
		booking = sample.Booking(o.kind, name, beforeDue.String(), o.receiver.On("/fails", receiver.FailFirst(1)))
		booking["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	case "recurring":
		delete(booking, "delay")
		booking["recurrence"] = testenv.JSON{"every": "1h", "start_at": wire.At(time.Now().Add(30 * time.Second))}
	}
	booked := dead.Add(booking)
	o.runs[name], o.due[name] = booked.RunID, booked.DueAt
	require.Eventually(t, func() bool { return o.WithWorker(o.kind + "/" + name) }, testenv.Patience, testenv.Interval, name)
}

// awaitTaken waits until the other worker has a timer, by the one write that this costs.
func (o takenOver) awaitTaken(t testing.TB, name string) {
	t.Helper()
	taken := []enumspb.EventType{
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
	}
	var events []enumspb.EventType
	require.Eventually(t, func() bool {
		events = o.Events(o.kind+"/"+name, o.runs[name])
		return len(events) >= len(taken)
	}, testenv.Patience, testenv.Interval, name)
	require.Equal(t, taken, events[:len(taken)], "%s is taken, and not freed", name)
}

// historyOf returns when what happened to a run, and which worker had its tasks.
func (o takenOver) historyOf(t testing.TB, name string) (lines []string) {
	t.Helper()
	events := o.Client.GetWorkflowHistory(t.Context(), o.kind+"/"+name, o.runs[name], false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		lines = append(lines, fmt.Sprint(event.GetEventTime().AsTime().Format(time.TimeOnly+".000"), " ", event.GetEventType(), " ",
			event.GetWorkflowTaskStartedEventAttributes().GetIdentity(), event.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage()))
	}
	return lines
}

// A timer whose worker died behaves at the next worker as any other, whatever reaches it before or
// after.
func TestWhatMeetsATimerThatIsTakenOver(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		left := slices.Collect(maps.Keys(meetings))
		for range rounds {
			if left = meet(t, takeOver(t, left), left); len(left) == 0 {
				return
			}
		}
		require.Empty(t, left, "they should be met before they are due")
	})
}

// meet lets timers meet what they must, and judges what becomes of them. It returns those that were due
// before that.
func meet(t testing.TB, o takenOver, names []string) (late []string) {
	t.Helper()
	met := []string{}
	for _, name := range names {
		if m := meetings[name]; !m.before && m.method != "" {
			reply := o.Do(m.method, "/v1/timers/"+o.kind+"/"+name+m.path, m.body)
			if o.isDue(name) {
				late = append(late, name)
				continue
			}
			if reply.Status != http.StatusOK {
				t.Fatalf("%s: %d %s\n%s", name, reply.Status, reply.Body, strings.Join(o.historyOf(t, name), "\n"))
			}
		}
		met = append(met, name)
	}
	for _, name := range met {
		o.receiver.Await(t, name, meetings[name].rings)
		o.Await(o.kind+"/"+name, meetings[name].status)
	}
	for _, name := range met {
		calls := o.receiver.Calls(name)
		require.Len(t, calls, meetings[name].rings, name)
		if meetings[name].body["payload"] != nil {
			require.JSONEq(t, `{"n":2}`, string(calls[0].Body), name)
		}
	}
	return late
}

// A timer that was edited while no worker heard of it rings as it was edited, also if another worker
// takes it over in the very moment in which it is due.
func TestEditedBeforeItIsTakenOverAsItIsDue(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		const timers = 75
		edited := 0
		for lead := tuning.DeadAfter; edited < timers/5; lead *= 2 {
			require.LessOrEqual(t, lead, 8*tuning.DeadAfter, "too few edits come before the timers are due")
			edited = editAndTakeOver(t, timers, lead)
		}
	})
}

// editAndTakeOver books timers of which the first is due after lead, lets their worker die, and edits
// them before another one takes them over. It returns how many edits were answered before the timer was
// due: a busy machine is behind with the others, and of those nothing is known.
func editAndTakeOver(t testing.TB, timers int, lead time.Duration) int {
	t.Helper()
	addr := testenv.Alone(t)
	dead, die := startDying(t, addr)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	due := make([]time.Time, timers)
	first := time.Now().Add(lead)
	for n := range due {
		due[n] = first.Add(time.Duration(n) * 40 * time.Millisecond)
		booking := sample.Booking(kind, strconv.Itoa(n), "", r.URL)
		delete(booking, "delay")
		booking["due_at"] = wire.At(due[n])
		dead.Add(booking)
	}
	die()
	env.StartWorker()
	early := map[int]bool{}
	for n := range due {
		reply := env.Do("PATCH", "/v1/timers/"+kind+"/"+strconv.Itoa(n)+"?wait=0s", testenv.JSON{"payload": testenv.JSON{"edited": n}})
		if time.Now().Before(due[n]) {
			require.Less(t, reply.Status, 300, "%d: %s", n, reply.Body)
			early[n] = true
		}
	}
	env.AwaitAll(kind, timers, "delivered")
	for n := range due {
		calls := r.Calls(strconv.Itoa(n))
		require.Len(t, calls, 1, n)
		if early[n] {
			require.Equal(t, "2", calls[0].Header.Get("Wakecall-Revision"), n)
		}
	}
	return len(early)
}

// TestRecordHistoriesOfTimersTakenOver records what follows such a task.
func TestRecordHistoriesOfTimersTakenOver(t *testing.T) {
	testenv.OnlyToRecord(t)
	o := takeOver(t, slices.Collect(maps.Keys(meetings)))
	rec := testenv.Recorder{T: t, H: o.Env}
	for _, name := range []string{"moved-later", "cancelled"} {
		require.Equal(t, http.StatusOK, o.Do(meetings[name].method, "/v1/timers/"+o.kind+"/"+name, meetings[name].body).Status)
	}
	rec.Run("taken-over-moved", o.kind+"/moved-later", o.runs["moved-later"])
	o.receiver.Await(t, "recurring", 1)
	rec.Run("taken-over-recurring", o.kind+"/recurring", o.runs["recurring"])
	for scenario, name := range map[string]string{"taken-over": "rings", "taken-over-retried": "fails", "taken-over-cancelled": "cancelled"} {
		o.Await(o.kind+"/"+name, meetings[name].status)
		rec.Run(scenario, o.kind+"/"+name, "")
	}
}

package namespace

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A server that is set up as Wakecall needs it is found so, and of each other one it is said what
// to change. Every workflow that was started for it is deleted.
func TestTheCheckAtTheStart(t *testing.T) {
	t.Parallel()
	checks := []string{"retention", "partitions", "clock", "id-reuse", "fairness", "freeing", "signs", "polls"}
	for name, c := range map[string]struct {
		server enginetest.Server
		// wrong is what is said of a check; the others are well or, as unknown says, not known.
		wrong   map[string]string
		unknown string
	}{
		"set up well":      {},
		"forgets early":    {server: enginetest.Server{Retention: time.Hour}, wrong: map[string]string{"retention": "set its retention to"}},
		"just long":        {server: enginetest.Server{Retention: timer.MaxPast}},
		"has partitions":   {server: enginetest.Server{Partitions: 4}, wrong: map[string]string{"partitions": "matching.numTaskqueueReadPartitions"}, unknown: "fairness"},
		"is unfair":        {server: enginetest.Server{Unfair: true}, wrong: map[string]string{"fairness": "matching.enableFairness"}},
		"delays runs":      {server: enginetest.Server{ReuseInterval: time.Second}, wrong: map[string]string{"id-reuse": "history.workflowIdReuseMinimalInterval"}},
		"delays runs less": {server: enginetest.Server{ReuseInterval: tuning.LongestReuse}},
		"has other tokens": {server: enginetest.Server{StrangeTokens: true}, wrong: map[string]string{"freeing": "use a server of"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				on := &enginetest.Temporal{}
				on.Server = c.server
				found := New(kernel.New(on, "default", "")).CheckStart(t.Context())
				require.Len(t, found, len(checks))
				for i, finding := range found {
					require.Equal(t, checks[i], finding.Check)
					require.Equal(t, finding.Check == c.unknown, finding.Unknown != nil, "%s: %v", finding.Check, finding.Unknown)
					require.Contains(t, finding.Wrong, c.wrong[finding.Check])
					require.Equal(t, c.wrong[finding.Check] == "", finding.Wrong == "", finding.Wrong)
				}
				requireClean(t, on)
			})
		})
	}
}

// requireClean holds the check to leaving nothing behind.
func requireClean(t *testing.T, on *enginetest.Temporal) {
	t.Helper()
	for _, id := range on.Called("StartWorkflowExecution") {
		require.Zero(t, on.RunsOf(id), id)
	}
}

// What a client may not ask, or Temporal does not answer, is unknown, and the rest is checked all the
// same.
func TestWhatCannotBeChecked(t *testing.T) {
	t.Parallel()
	denied := serviceerror.NewPermissionDenied("not allowed", "")
	for call, unknown := range map[string][]string{
		"DescribeNamespace":            {"retention", "freeing"},
		"ListTaskQueuePartitions":      {"partitions", "fairness"},
		"DescribeTaskQueue":            {"fairness"},
		"StartWorkflowExecution":       {"clock", "id-reuse", "fairness", "freeing"},
		"PollWorkflowTaskQueue":        {"id-reuse", "fairness", "freeing", "polls"},
		"DescribeWorkflowExecution":    {"clock", "id-reuse"},
		"RespondWorkflowTaskCompleted": {"id-reuse"},
		"RespondWorkflowTaskFailed":    {"freeing"},
		"GetWorkflowHistory":           {"freeing"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				on := &enginetest.Temporal{}
				on.Refuse(call, "", denied)
				var found []string
				for _, finding := range New(kernel.New(on, "default", "")).CheckStart(t.Context()) {
					require.Empty(t, finding.Wrong, "nothing is known to be wrong")
					if finding.Unknown != nil {
						found = append(found, finding.Check)
					}
				}
				require.Equal(t, unknown, found)
				if call != "DescribeWorkflowExecution" { // a run that is not known ends by its timeout
					requireClean(t, on)
				}
			})
		})
	}
}

// A server that does not know a call, or has it switched off, is not set up for Wakecall.
func TestALackingCallIsAFault(t *testing.T) {
	t.Parallel()
	for call, wrong := range map[string]map[string]string{
		"RecordWorkerHeartbeat":     {"signs": "frontend.WorkerHeartbeatsEnabled"},
		"ListWorkers":               {"signs": "frontend.WorkerHeartbeatsEnabled"},
		"ShutdownWorker":            {"polls": "frontend.enableCancelWorkerPollsOnShutdown"},
		"RespondWorkflowTaskFailed": {"freeing": "use a server of"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				on := &enginetest.Temporal{}
				on.Refuse(call, "", serviceerror.NewUnimplemented("method "+call+" not supported"))
				for _, finding := range New(kernel.New(on, "default", "")).CheckStart(t.Context()) {
					require.NoError(t, finding.Unknown, finding.Check)
					require.Contains(t, finding.Wrong, wrong[finding.Check])
					require.Equal(t, wrong[finding.Check] == "", finding.Wrong == "", finding.Wrong)
				}
				requireClean(t, on)
			})
		})
	}
}

// A server that is too slow to check holds no start up for longer than a start may take.
func TestACheckThatTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		on := &enginetest.Temporal{}
		on.Before = func(call enginetest.Call) error {
			if call.Name == "PollWorkflowTaskQueue" && strings.Contains(call.Of, "-") {
				<-time.After(tuning.StartCheckTimeout)
				return errors.New("a task that was started did not come")
			}
			return nil
		}
		found := New(kernel.New(on, "default", "")).CheckStart(t.Context())
		require.Len(t, found, 8)
		requireClean(t, on)
	})
}

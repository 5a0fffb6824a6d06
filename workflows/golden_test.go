package workflows_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/golden"
	"github.com/wakecall/wakecall/workflows"
)

// The stored form of the entities. A golden file in core has the form of the policy within a
// record.
func TestStoredEntities(t *testing.T) {
	t.Parallel()
	at := wire.At(time.Unix(1_800_000_000, 0))
	golden.Check(t, "registered", workflows.Registered{"order-close": 1_800_000_000})
	golden.Check(t, "registration", workflows.Registration{
		Add: []string{"order-close"}, Remove: []workflows.Registrant{{BusinessType: "order-open", At: 1_700_000_000}},
	})
	golden.Check(t, "notification", workflows.Notification{Worker: "worker-1", RunID: "run-1"})
	record := workflows.PolicyRecord{ChangedAt: at, ChangedBy: "ops", ClosedUntil: at.Add(time.Minute), Sealed: true,
		Who: &wire.Actor{Name: "ops", ID: "0a1b", Role: "admin", By: "key", Via: "console", From: "10.0.0.7", RequestID: "r-1", Job: "bulk:job-0"}}
	golden.CheckBut(t, "policy_record", record, ".Policy")
	golden.CheckBut(t, "put_policy", workflows.PutPolicy{Record: record, IfVersion: 3, Closing: record.ClosedUntil}, ".Record.Policy")
}

// What the ledgers are stored as.
func TestStoredLedgers(t *testing.T) {
	t.Parallel()
	at := wire.At(time.Unix(1_800_000_000, 0))
	stamp := workflows.LedgerStamp{Number: 3, At: at}
	counts := slo.Counts{
		Booked: 9, Bytes: 90, Rung: 3, OnTime: 2, Missed: 1, Delivered: 2, Failed: 1, Expired: 1, Attempts: 11, WorstMS: 1700,
		JudgedBy: slo.Promise(time.Second), Lateness: slo.Histogram{1: 2, 123: 1},
	}
	golden.Check(t, "ledger_state", workflows.LedgerState{
		Series:  map[string]slo.Series{"order-close": {{From: at, To: at.Add(time.Hour), Counts: counts}}},
		Senders: map[string]workflows.LedgerStamp{"worker-1": stamp},
	})
	golden.Check(t, "ledger_entry", workflows.LedgerEntry{LedgerStamp: stamp, Sender: "worker-1", Counts: map[string]slo.Counts{"order-close": counts}})
}

// The stored form of dispatches. Their memos have their own golden files.
func TestStoredDispatches(t *testing.T) {
	t.Parallel()
	commit := workflows.DispatchCommit{Parts: []dispatch.Part{{Prefix: "dispatch-page:a/b/", Pages: 2}}, Sizes: []int{1000, 12}, Upload: "UPLOAD1"}
	golden.Check(t, "dispatch_commit", commit)
	golden.CheckBut(t, "dispatch_input", workflows.DispatchInput{DispatchCommit: commit}, ".Memo")
	golden.CheckBut(t, "shard_news", workflows.ShardNews{Shard: 3, Active: true, Counts: dispatch.Counts{
		Found: 90, Done: 70, Failed: 5, Retrying: 6, InFlight: 7, Callbacks: 99,
	}})
}

// registered collects the functions of the workflows.
type registered []any

func (r *registered) RegisterWorkflowWithOptions(w any, _ workflow.RegisterOptions) {
	*r = append(*r, w)
}

// Every input and output of a workflow has a golden file for its form.
func TestEveryStoredTypeIsHeld(t *testing.T) {
	t.Parallel()
	var functions registered
	workflows.Register(&functions)
	types := []reflect.Type{ // signals and updates
		reflect.TypeFor[timer.Change](), reflect.TypeFor[policy.BackPressure](), reflect.TypeFor[workflows.Registration](),
		reflect.TypeFor[workflows.PutPolicy](), reflect.TypeFor[workflows.PolicyRecord](), reflect.TypeFor[workflows.LedgerEntry](),
		reflect.TypeFor[dispatch.Change](), reflect.TypeFor[workflows.DispatchCommit](), reflect.TypeFor[workflows.ShardNews](),
	}
	for _, f := range functions {
		for i := 1; i < reflect.TypeOf(f).NumIn(); i++ { // the first is the context
			types = append(types, reflect.TypeOf(f).In(i))
		}
		for i := range reflect.TypeOf(f).NumOut() {
			types = append(types, reflect.TypeOf(f).Out(i))
		}
	}
	seen := 0
	for _, stored := range types {
		if stored == reflect.TypeFor[error]() || stored == reflect.TypeFor[converter.RawValue]() {
			continue
		}
		require.FileExists(t, fileOf(stored), "no file holds what Temporal stores of %s", stored)
		seen++
	}
	require.Greater(t, seen, 10)
	_, err := os.Stat(fileOf(reflect.TypeFor[workflows.Registrant]()))
	require.Error(t, err, "the control: a type without a file is seen")
}

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

func fileOf(stored reflect.Type) string {
	name := strings.ToLower(capital.ReplaceAllString(stored.Name(), "${1}_${2}")) + ".golden.json"
	if _, room, ok := strings.Cut(stored.PkgPath(), "/core/"); ok {
		if room == "dispatch" { // a timer has a change and a memo, too
			name = "dispatch_" + name
		}
		return "../core/testdata/stored/" + name
	}
	return "testdata/stored/" + name
}

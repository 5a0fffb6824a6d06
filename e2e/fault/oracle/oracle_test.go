package oracle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// clean is a run with one timer of each fate that keeps every promise. Something crashed
// from second 20 to second 25.
func clean() Run {
	return Run{
		Limits: Limits{
			Calm: time.Second, Recovery: 10 * time.Second, Settle: 200 * time.Millisecond, Slack: 2 * time.Second,
			Ladder: []time.Duration{2 * time.Second, 4 * time.Second},
		},
		Faults: []Fault{{From: at(20), To: at(25), Crash: true}},
		Rest:   Rest{Processes: map[string]Growth{"api": {Before: Usage{100, 50, 1 << 20}, After: Usage{102, 51, 2 << 20}}}},
		Calls: []Call{
			added("plain", 5), added("retried", 5), added("crashed", 19.5), added("held", 22),
			added("moved", 5), changed("moved", 4, 10, 2),
			added("pending", 5), {Op: Change, ID: "pending", Outcome: OK, Status: 202, Pending: true, Sent: at(4), Answered: at(4.5), Due: at(6), Revision: 1, WebhookID: "w-pending"},
			added("cancelled", 5), {Op: Cancel, ID: "cancelled", Outcome: OK, Status: 200, Sent: at(3), Answered: at(3.1)},
			{Op: Add, ID: "refused", Outcome: Failed, Status: 422, Sent: at(0), Answered: at(0.1), Due: at(5)},
			{Op: Add, ID: "repeated", Outcome: Unknown, Status: 503, Sent: at(0), Answered: at(1), Due: at(5)},
			{Op: Add, ID: "repeated", Outcome: OK, Status: 201, Sent: at(2), Answered: at(2.1), Due: at(5), Revision: 1, WebhookID: "w-repeated"},
			{Op: Add, ID: "late repeat", Outcome: Unknown, Sent: at(0), Answered: at(1), Due: at(5)},
			{Op: Add, ID: "late repeat", Outcome: OK, Status: 409, Problem: alreadyFinished, Sent: at(7), Answered: at(7.1), Due: at(5), Revision: 1, WebhookID: "w-late repeat"},
		},
		Arrivals: []Arrival{
			arrived("plain", 5.1, 200), arrived("repeated", 5.1, 200), arrived("late repeat", 5.2, 200),
			arrived("retried", 5.1, 500), arrived("retried", 7.2, 500).try(2), arrived("retried", 11.4, 200).try(3),
			arrived("moved", 10.1, 200).withRevision(2), arrived("pending", 6.1, 200).withRevision(2),
			arrived("crashed", 19.9, 200), arrived("crashed", 30, 200),
			arrived("held", 27, 200),
		},
	}
}

func added(id string, due float64) Call {
	return Call{
		Op: Add, ID: id, Outcome: OK, Status: 201, Sent: at(0), Answered: at(0.1),
		Due: at(due), Revision: 1, WebhookID: "w-" + id,
	}
}

func changed(id string, answered, due float64, revision int) Call {
	return Call{
		Op: Change, ID: id, Outcome: OK, Status: 200, Sent: at(answered - 0.1), Answered: at(answered),
		Due: at(due), Revision: revision, WebhookID: "w-" + id,
	}
}

// arrived is the first attempt of an unchanged timer.
func arrived(id string, when float64, status int) Arrival {
	return Arrival{
		ID: id, WebhookID: "w-" + id, Attempt: 1, Revision: 1, Body: "digest",
		At: at(when), Status: status, Answered: at(when + 0.01),
	}
}

// try is the arrival as another attempt, of as one of another revision.
func (a Arrival) try(attempt int) Arrival { a.Attempt = attempt; return a }

func (a Arrival) withRevision(revision int) Arrival { a.Revision = revision; return a }

// remove takes the arrivals of a timer out of the log.
func (run *Run) remove(id string) {
	run.Arrivals = slices.DeleteFunc(run.Arrivals, func(a Arrival) bool { return a.ID == id })
}

// arrive adds an arrival to the log.
func (run *Run) arrive(a Arrival) { run.Arrivals = append(run.Arrivals, a) }

// call adds a call to the log.
func (run *Run) call(c Call) { run.Calls = append(run.Calls, c) }

// edit changes the first arrival of a timer.
func (run *Run) edit(id string, change func(*Arrival)) {
	i := slices.IndexFunc(run.Arrivals, func(a Arrival) bool { return a.ID == id })
	change(&run.Arrivals[i])
}

// answer changes the last call about a timer.
func (run *Run) answer(id string, change func(*Call)) {
	for i := len(run.Calls) - 1; i >= 0; i-- {
		if run.Calls[i].ID == id {
			change(&run.Calls[i])
			return
		}
	}
}

func TestCleanRun(t *testing.T) {
	t.Parallel()
	require.Empty(t, Check(clean()))
	summary := Summarise(clean())
	require.Equal(t, 9, summary.Timers)
	require.Zero(t, summary.Lost)
	require.Zero(t, summary.Early)
	require.Equal(t, 1, summary.Duplicates, "the attempt that was in flight at the crash")
	require.Equal(t, 5*time.Second, summary.Worst)
	require.Equal(t, 2*time.Second, summary.Recovery)
	require.Equal(t, 100*time.Millisecond, summary.Median)
}

// The negative controls: each log was tampered with in one place, and its rule must find that.
func TestTamperedLogs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule   Rule
		tamper func(*Run)
	}{
		"a callback is missing":         {Loss, func(run *Run) { run.remove("plain") }},
		"only refused attempts":         {Loss, func(run *Run) { run.edit("plain", func(a *Arrival) { a.Status = 500 }) }},
		"only the replaced revision":    {Loss, func(run *Run) { run.edit("moved", func(a *Arrival) { a.Revision = 1 }) }},
		"a repeated add was lost":       {Loss, func(run *Run) { run.remove("repeated") }},
		"it was finished, says the API": {Loss, func(run *Run) { run.remove("late repeat") }},

		"rang before it was due":         {Early, func(run *Run) { run.edit("plain", func(a *Arrival) { a.At = at(4.9) }) }},
		"rang when it was due at first":  {Early, func(run *Run) { run.edit("moved", func(a *Arrival) { a.At = at(5) }) }},
		"rang before a pending due time": {Early, func(run *Run) { run.edit("pending", func(a *Arrival) { a.At = at(5) }) }},

		"a second call":         {Duplicates, func(run *Run) { run.arrive(arrived("plain", 9, 200)) }},
		"a retry after success": {Duplicates, func(run *Run) { run.arrive(arrived("plain", 9, 200).try(2)) }},
		"an attempt twice":      {Duplicates, func(run *Run) { run.arrive(arrived("retried", 8, 500).try(2)) }},
		"long before the crash": {Duplicates, func(run *Run) { run.edit("crashed", func(a *Arrival) { a.At, a.Answered = at(19.5), at(19.6) }) }},
		"nothing crashed":       {Duplicates, func(run *Run) { run.Faults[0].Crash = false }},
		"a worker goes on": {Duplicates, func(run *Run) {
			run.Faults[0].Stood = true
			run.edit("crashed", func(a *Arrival) { a.At, a.Answered = at(24), at(24.1) })
		}},
		"a third call":              {Duplicates, func(run *Run) { run.arrive(arrived("crashed", 33, 200)) }},
		"another webhook-id":        {Duplicates, func(run *Run) { run.edit("crashed", func(a *Arrival) { a.WebhookID = "w-other" }) }},
		"not the booked webhook-id": {Duplicates, func(run *Run) { run.edit("plain", func(a *Arrival) { a.WebhookID = "w-other" }) }},
		"another body":              {Duplicates, func(run *Run) { run.edit("crashed", func(a *Arrival) { a.Body = "other" }) }},

		"never booked":                  {Phantoms, func(run *Run) { run.arrive(arrived("stranger", 9, 200)) }},
		"refused":                       {Phantoms, func(run *Run) { run.arrive(arrived("refused", 5, 200)) }},
		"cancelled":                     {Phantoms, func(run *Run) { run.arrive(arrived("cancelled", 5, 200)) }},
		"cancelled, the receiver fails": {Phantoms, func(run *Run) { run.arrive(arrived("cancelled", 5, 500)) }},
		"cancelled what was delivered":  {Phantoms, func(run *Run) { run.arrive(arrived("cancelled", 3, 200)) }},
		"cancelled, pending": {Phantoms, func(run *Run) {
			run.answer("cancelled", func(c *Call) { c.Pending = true })
			run.arrive(arrived("cancelled", 5, 200))
		}},

		"created twice":          {Unknowns, func(run *Run) { run.call(added("plain", 5)) }},
		"created after it rang":  {Unknowns, func(run *Run) { run.answer("repeated", func(c *Call) { c.Sent = at(6) }) }},
		"known at the first add": {Unknowns, func(run *Run) { run.answer("plain", func(c *Call) { c.Status = 200 }) }},
		"finished at the first add": {Unknowns, func(run *Run) {
			run.answer("plain", func(c *Call) { c.Status, c.Problem = 409, alreadyFinished })
		}},
		"taken for another": {Unknowns, func(run *Run) {
			run.answer("late repeat", func(c *Call) { c.Problem, c.Outcome = "already-exists", Failed })
		}},
		"never cleared up": {Unknowns, func(run *Run) { run.answer("repeated", func(c *Call) { c.Outcome, c.Status = Unknown, 503 }) }},

		"a retry too soon":      {Gaps, func(run *Run) { run.edit("retried", func(a *Arrival) { a.Answered = at(5.6) }) }},
		"a retry too late":      {Gaps, func(run *Run) { run.Limits.Ladder[0] = 50 * time.Millisecond }},
		"past the ladder's end": {Gaps, func(run *Run) { run.Limits.Ladder = run.Limits.Ladder[:1] }},

		"late for nothing":       {Lateness, func(run *Run) { run.edit("plain", func(a *Arrival) { a.At = at(6.5) }) }},
		"late after the fault":   {Lateness, func(run *Run) { run.edit("held", func(a *Arrival) { a.At = at(35.5) }) }},
		"the fault began after":  {Lateness, func(run *Run) { run.Faults[0].From = at(28) }},
		"a moved one comes late": {Lateness, func(run *Run) { run.edit("moved", func(a *Arrival) { a.At = at(11.5) }) }},

		"the old revision after the change": {Revisions, func(run *Run) { run.arrive(arrived("moved", 5, 500)) }},
		"the old revision was delivered":    {Revisions, func(run *Run) { run.arrive(arrived("moved", 4, 200)) }},
		"the old one after a pending one":   {Revisions, func(run *Run) { run.arrive(arrived("pending", 5, 500)) }},

		"an open timer":       {Quiescence, func(run *Run) { run.Rest.Overdue = []string{"plain"} }},
		"leaked goroutines":   {Quiescence, func(run *Run) { run.grow(Usage{Goroutines: 200}) }},
		"leaked descriptors":  {Quiescence, func(run *Run) { run.grow(Usage{Descriptors: 200}) }},
		"memory out of hand":  {Quiescence, func(run *Run) { run.grow(Usage{Memory: 3 << 30}) }},
		"a revision too many": {Loss, func(run *Run) { run.call(changed("moved", 4.2, 10, 3)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := clean()
			test.tamper(&run)
			broken := map[Rule]bool{}
			for _, violation := range Check(run) {
				broken[violation.Rule] = true
			}
			require.True(t, broken[test.rule], "%v", Check(run))
		})
	}
}

func (run *Run) grow(after Usage) {
	p := run.Rest.Processes["api"]
	p.After = after
	run.Rest.Processes["api"] = p
}

// Allowed events must not be flagged: an oracle with false alarms is switched off.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Run){
		"an unknown cancel, rung": func(run *Run) {
			run.call(Call{Op: Cancel, ID: "plain", Outcome: Unknown, Sent: at(3), Answered: at(4)})
		},
		"an unknown cancel, silent":  func(run *Run) { run.answer("cancelled", func(c *Call) { c.Outcome = Unknown }) },
		"an unknown change, applied": func(run *Run) { run.answer("moved", func(c *Call) { c.Outcome = Unknown }) },
		"an unknown change, ignored": func(run *Run) {
			run.call(Call{Op: Change, ID: "plain", Outcome: Unknown, Sent: at(3), Answered: at(4), Due: at(9)})
		},
		"a change that came too late": func(run *Run) {
			run.call(Call{Op: Change, ID: "plain", Outcome: Failed, Status: 409, Sent: at(6), Answered: at(6.1), Due: at(9)})
		},
		"taken while a cancel hung": func(run *Run) {
			run.answer("cancelled", func(c *Call) { c.Pending, c.Answered = true, at(5.5) })
			run.arrive(arrived("cancelled", 5, 200))
		},
		"a clock that was put forward": func(run *Run) {
			run.Limits.Ahead = time.Second
			run.edit("plain", func(a *Arrival) { a.At = at(4.5) })
		},
		"a task that a frozen worker held": func(run *Run) {
			run.call(added("frozen", 19))
			run.arrive(arrived("frozen", 25.1, 200))
			run.arrive(arrived("frozen", 26, 200))
		},
		"a worker that stopped with an answer in hand": func(run *Run) { run.Faults[0].Stood = true },
		"a retry held up by a fault": func(run *Run) {
			run.call(added("unlucky", 19))
			run.arrive(arrived("unlucky", 19.1, 500))
			run.arrive(arrived("unlucky", 29, 200).try(2))
		},
		"a worker that died with a refusal in hand": func(run *Run) {
			run.call(added("unlucky", 19.9))
			run.arrive(arrived("unlucky", 19.95, 500))
			run.arrive(arrived("unlucky", 20.1, 200).try(2))
		},
		"booked after its due time": func(run *Run) {
			run.call(Call{Op: Add, ID: "overdue", Outcome: OK, Status: 201, Sent: at(10), Answered: at(10.1), Due: at(1), Revision: 1, WebhookID: "w-overdue"})
			run.arrive(arrived("overdue", 10.2, 200))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := clean()
			change(&run)
			require.Empty(t, Check(run))
		})
	}
}

func TestEmptyRun(t *testing.T) {
	t.Parallel()
	require.Empty(t, Check(Run{}))
	require.Zero(t, Summarise(Run{}))
}

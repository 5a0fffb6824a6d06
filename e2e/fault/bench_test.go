package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/fault/witness"
	"github.com/wakecall/wakecall/e2e/process"
)

// ladder outlasts every fault.
var ladder = []time.Duration{
	time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 16 * time.Second, 16 * time.Second, 16 * time.Second,
}

// bench is a deployment under test, with a witness as its receiver.
type bench struct {
	t   *testing.T
	api process.API
	// gateways are the URLs of more APIs of the same deployment.
	gateways []string
	// prefix distinguishes the rows of one form from those of another.
	prefix string
	// kind is the business type of every timer.
	kind    string
	witness *witness.Witness
	random  *rand.Rand
	// living are the present processes, by name.
	living map[string]*process.Process

	mu     sync.Mutex
	faults []*oracle.Fault
}

func newBench(t *testing.T, api process.API) *bench {
	return &bench{
		t: t, api: api, kind: "fault", witness: witness.New(t), living: map[string]*process.Process{},
		random: rand.New(rand.NewPCG(seed, 0)),
	}
}

// again is a bench for one more trial on the same deployment, with another test and business
// type.
func (b *bench) again(t *testing.T) *bench {
	next := newBench(t, b.api)
	next.api.T = t
	next.kind = fmt.Sprintf("%s-%d", b.kind, trials.Add(1))
	next.living, next.prefix = b.living, b.prefix
	return next
}

// trials numbers the business types.
var trials atomic.Int64

// policy makes Wakecall call back to a URL, with further settings.
func (b *bench) policy(url string, besides ...contract.JSON) {
	steps := []string{}
	for _, step := range ladder {
		steps = append(steps, step.String())
	}
	policy := contract.JSON{"callback": contract.JSON{"url": url}, "retry": contract.JSON{"steps": steps, "jitter": 0}}
	for _, settings := range besides {
		maps.Copy(policy, settings)
	}
	b.api.Policy(b.kind, policy)
}

// breaks records the begin of a fault. crash reports whether attempts in flight may lose
// their caller.
func (b *bench) breaks(crash bool) *oracle.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	f := &oracle.Fault{From: now, To: now.Add(time.Hour), Crash: crash}
	b.faults = append(b.faults, f)
	return f
}

// stops records that a worker is going to stand still for a while.
func (b *bench) stops() *oracle.Fault {
	f := b.breaks(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	f.Stood = true
	return f
}

// heals records that the cause of a fault is repaired: only the recovery is left.
func (b *bench) heals(f *oracle.Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f.To = time.Now()
}

// trial is one row of the table.
type trial struct {
	fault  string
	plan   load.Plan
	limits oracle.Limits
	// strike breaks and mends things while the load runs.
	strike func(*load.Load)
}

// limits are the default limits of a trial. They do not measure speed: the machine has other
// work.
var limits = within(time.Minute, 2*time.Minute)

// within are limits of lateness: without a fault, and from the end of a fault. The short set
// runs beside other tests, which slow down the recording and the retry of an attempt.
func within(calm, recovery time.Duration) oracle.Limits {
	return oracle.Limits{
		Calm: calm, Recovery: recovery, Ladder: ladder,
		Settle: time.Duration(scaled(2, 4)) * time.Second, Slack: time.Duration(scaled(2, 15)) * time.Second,
	}
}

// run carries out a trial and requires that every promise was kept.
func (b *bench) run(trial trial) (oracle.Run, oracle.Summary) {
	b.t.Helper()
	b.t.Logf("seed %d", seed)
	if trial.limits.Ladder == nil {
		trial.limits = limits
	}
	trial.plan.Seed, trial.plan.Type = seed, b.kind
	before := b.usages()
	l := load.Start(b.t.Context(), load.Target{URLs: append([]string{b.api.URL}, b.gateways...), Key: b.api.Key}, trial.plan)
	b.t.Cleanup(l.Close)
	trial.strike(l)
	l.Wait()
	run := oracle.Run{Limits: trial.limits}
	b.drain(l, &run)
	l.Close()
	b.rest(before, &run)
	broken, summary := oracle.Check(run), oracle.Summarise(run)
	results.add(b.prefix+trial.fault, summary, len(broken))
	b.t.Logf("%s%s: %+v", b.prefix, trial.fault, summary)
	shown := map[oracle.Rule]int{}
	for _, violation := range broken {
		if shown[violation.Rule]++; shown[violation.Rule] > 5 {
			continue
		}
		b.t.Errorf("%s", violation)
		b.t.Logf("%s", b.story(run, violation.ID))
	}
	require.Zero(b.t, len(broken), "seed %d", seed)
	require.Equal(b.t, trial.plan.Timers, summary.Timers, "in the end every timer was booked")
	return run, summary
}

// drain waits until no overdue timer is open, and reads the logs. The oracle finds missing
// rings. While timers are due it asks for one at most: a list of thousands, each with its progress,
// costs as much as their deliveries.
func (b *bench) drain(l *load.Load, run *oracle.Run) {
	last := slices.MaxFunc(l.Calls(), func(a, b oracle.Call) int { return a.Due.Compare(b.Due) }).Due
	limit := time.NewTimer(time.Until(last) + max(run.Limits.Calm, run.Limits.Recovery) + time.Minute)
	defer limit.Stop()
	poll := time.NewTicker(500 * time.Millisecond)
	defer poll.Stop()
	for {
		run.Calls = l.Calls()
		arrivals, err := b.witness.Arrivals()
		require.NoError(b.t, err)
		run.Arrivals, run.Faults = arrivals, b.noted()
		if oracle.Summarise(*run).Lost == 0 && !ahead(run.Calls) && len(b.overdue(1)) == 0 {
			return
		}
		select {
		case <-poll.C:
		case <-limit.C:
			run.Rest.Overdue = b.overdue(math.MaxInt)
			return
		}
	}
}

// restWithin is how long idle connections and their goroutines may remain.
const restWithin = time.Minute

// rest waits until the processes that lived through the run hold no more than before.
func (b *bench) rest(before map[string]usage, run *oracle.Run) {
	limit := time.NewTimer(restWithin)
	defer limit.Stop()
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		run.Rest.Processes = map[string]oracle.Growth{}
		for name, usage := range b.usages() {
			if was, ok := before[name]; ok && was.process == usage.process {
				run.Rest.Processes[name] = oracle.Growth{Before: was.Usage, After: usage.Usage, More: more[name]}
			}
		}
		if run.Rest.Quiet() {
			return
		}
		select {
		case <-poll.C:
		case <-limit.C:
			return
		}
	}
}

// ahead reports whether a due time lies ahead, even if it is not known to be in effect.
func ahead(calls []oracle.Call) bool {
	return slices.ContainsFunc(calls, func(c oracle.Call) bool { return time.Since(c.Due) < time.Second })
}

func (b *bench) noted() (faults []oracle.Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		faults = append(faults, *f)
	}
	return faults
}

// overdue are the open timers in the list with a past due time, at most so many. A list that
// cannot be read counts as one of them.
func (b *bench) overdue(most int) (ids []string) {
	for _, status := range []string{"scheduled", "delivering"} {
		query := url.Values{
			"business_type": {b.kind}, "status": {status}, "due_to": {time.Now().UTC().Format(time.RFC3339)}, "page_size": {strconv.Itoa(min(most, 100))},
		}
		for more := true; more && len(ids) < most; {
			var page struct {
				Timers []contract.Timer `json:"timers"`
				Next   string           `json:"next_page_token"`
			}
			code, answer, err := b.api.Try("GET", "/v1/timers?"+query.Encode(), nil)
			if err != nil || code != http.StatusOK {
				return []string{"the list"}
			}
			require.NoError(b.t, json.Unmarshal(answer, &page))
			for _, timer := range page.Timers {
				ids = append(ids, timer.BusinessID)
			}
			query.Set("page_token", page.Next)
			more = page.Next != ""
		}
	}
	return ids
}

// story is the whole record of one timer.
func (b *bench) story(run oracle.Run, id string) string {
	var text strings.Builder
	for _, c := range run.Calls {
		if c.ID == id {
			fmt.Fprintf(&text, "%s..%s %s due %s: %s %d %s pending=%t revision %d\n", clock(c.Sent), clock(c.Answered), c.Op, clock(c.Due),
				c.Outcome, c.Status, c.Problem, c.Pending, c.Revision)
		}
	}
	for _, a := range run.Arrivals {
		if a.ID == id {
			fmt.Fprintf(&text, "%s..%s attempt %d revision %d: %d\n", clock(a.At), clock(a.Answered), a.Attempt, a.Revision, a.Status)
		}
	}
	for _, f := range run.Faults {
		fmt.Fprintf(&text, "%s..%s broken, crash=%t\n", clock(f.From), clock(f.To), f.Crash)
	}
	return text.String()
}

func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

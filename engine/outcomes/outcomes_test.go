package outcomes

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// listed are business types with a policy.
type listed []string

func (l listed) List(context.Context) (all []policy.Policy, err error) {
	for _, businessType := range l {
		all = append(all, policy.Policy{BusinessType: businessType})
	}
	return all, nil
}

// past is a namespace in which timers end.
type past struct {
	t      *testing.T
	on     *enginetest.Temporal
	worker enginetest.Worker
	*Outcomes
}

func open(t *testing.T, types ...string) *past {
	t.Helper()
	p := &past{t: t, on: &enginetest.Temporal{}}
	p.worker = enginetest.Worker{On: p.on}
	k := kernel.New(p.on, "default", "")
	t.Cleanup(k.EndWaits)
	p.Outcomes = New(k, listed(types))
	return p
}

// end has timers end now: delivered, failed and expired ones.
func (p *past) end(businessType string, delivered, failed, expired int) {
	p.t.Helper()
	for i := range delivered + failed + expired {
		id := businessType + "/" + strconv.Itoa(p.on.RunsOf(""))
		_, err := p.on.ExecuteWorkflow(p.t.Context(), client.StartWorkflowOptions{
			ID: id, TypedSearchAttributes: temporal.NewSearchAttributes(workflows.AttrBusinessType.ValueSet(businessType), workflows.AttrDueAt.ValueSet(time.Now())),
		}, workflows.TypeTimer)
		require.NoError(p.t, err)
		switch {
		case i < delivered:
			p.worker.Deliver(id)
		case i < delivered+failed:
			p.worker.Fail(id)
		default:
			p.worker.State(p.t, id, timer.Expired)
			p.worker.Deliver(id)
		}
	}
}

// between asks for the last minutes, and waits for the count that the question begins.
func (p *past) between(businessType string, minutes int) outcomes.Outcomes {
	p.t.Helper()
	to := enginetest.MinuteIn(time.Minute)
	r := Request{BusinessType: businessType, Span: outcomes.Span{From: to.Add(-time.Duration(minutes) * time.Minute), To: to, Step: time.Minute}}
	_, _, err := p.Between(p.t.Context(), r, func(string) bool { return true })
	require.NoError(p.t, err)
	synctest.Wait()
	answer, _, err := p.Between(p.t.Context(), r, func(string) bool { return true })
	require.NoError(p.t, err)
	synctest.Wait()
	return answer
}

func everything(string) bool { return true }

// What ended stands in its minute, listed or counted.
func TestWhatEndedStandsInItsMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order", "invoice")
		time.Sleep(30 * time.Second) //nolint:forbidigo // the time of the bubble
		p.end("order", 3, 2, 1)
		p.end("invoice", 7, 0, 0)
		time.Sleep(time.Minute) //nolint:forbidigo // the time of the bubble
		p.end("order", tuning.OutcomesListed+1, 1, 2)
		got := p.between("order", 3)
		require.Equal(t, outcomes.Counts{Delivered: 3, Failed: 2, Expired: 1}, got.Steps[1].Counts)
		require.Equal(t, outcomes.Counts{Delivered: tuning.OutcomesListed + 1, Failed: 1, Expired: 2}, got.Steps[2].Counts)
		require.Equal(t, outcomes.Counts{}, got.Steps[0].Counts)
		require.True(t, got.Steps[0].Counted)
		<-time.After(tuning.OutcomesDebt)
		all := p.between("", 4)
		require.Equal(t, outcomes.Counts{Delivered: 10, Failed: 2, Expired: 1}, all.Steps[1].Counts)
		require.Equal(t, got.CountedAt, all.CountedAt, "the oldest count of them")
		require.Empty(t, all.BusinessType)
		some, types, err := p.Between(t.Context(), Request{Span: outcomes.Span{From: got.Steps[0].At, To: got.Steps[2].At, Step: time.Minute}},
			func(businessType string) bool { return businessType == "invoice" })
		require.NoError(t, err)
		require.Equal(t, []string{"invoice"}, types)
		require.Equal(t, outcomes.Counts{Delivered: 7}, some.Steps[1].Counts)
	})
}

// Of all types together a minute is counted once it is counted of each. Its counts are too low before.
func TestAMinuteIsCountedOfEachType(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order", "invoice")
		p.end("order", 3, 0, 0)
		p.end("invoice", 7, 0, 0)
		<-time.After(2 * time.Minute)
		require.True(t, p.between("order", 3).Steps[0].Counted)
		from := enginetest.MinuteIn(-2 * time.Minute)
		all := Request{Span: outcomes.Span{From: from, To: from.Add(time.Minute), Step: time.Minute}}
		for _, want := range []outcomes.Step{{At: from, Counts: outcomes.Counts{Delivered: 3}}, {At: from, Counted: true, Counts: outcomes.Counts{Delivered: 10}}} {
			answer, _, err := p.Between(t.Context(), all, everything)
			require.NoError(t, err)
			require.Equal(t, []outcomes.Step{want}, answer.Steps)
			<-time.After(tuning.OutcomesDebt)
			synctest.Wait()
		}
	})
}

// A minute is counted once more after it has ended, and never again; and the hours before are
// counted one by one.
func TestEndedMinutesAreLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order")
		p.end("order", 1, 0, 0)
		time.Sleep(3 * time.Hour) //nolint:forbidigo // the time of the bubble
		require.False(t, p.between("order", 181).Steps[0].Counted, "that is more than two hours ago")
		for range 4 {
			time.Sleep(tuning.OutcomesFresh) //nolint:forbidigo // the time of the bubble
			p.between("order", 181)
		}
		got := p.between("order", 181)
		require.True(t, got.Steps[0].Counted)
		require.Equal(t, 1, got.Steps[0].Delivered)
		for range 30 { // until all hours are counted
			time.Sleep(time.Minute) //nolint:forbidigo // the time of the bubble
			p.between("order", 1)
		}
		before := p.on.RunsOf("")
		time.Sleep(tuning.OutcomesFresh) //nolint:forbidigo // the time of the bubble
		parts := p.entryFor("order").open(time.Now())
		require.Len(t, parts, 1)
		require.LessOrEqual(t, parts[0].end-parts[0].first, int64(3), "only the last minutes may change")
		require.Equal(t, before, p.on.RunsOf(""))
	})
}

// Visibility that does not answer is an error only as long as nothing is known.
func TestVisibilityIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order")
		away := errors.New("away")
		p.on.Refuse("CountWorkflow", "", away)
		to := enginetest.MinuteIn(time.Minute)
		r := Request{BusinessType: "order", Span: outcomes.Span{From: to.Add(-time.Minute), To: to, Step: time.Minute}}
		_, _, err := p.Between(t.Context(), r, everything)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		p.on.Refuse("CountWorkflow", "", nil)
		time.Sleep(tuning.OutcomesFresh) //nolint:forbidigo // the time of the bubble
		require.True(t, p.between("order", 1).Steps[0].Counted)
	})
}

// A count that never has its turn is an error, and not a count.
func TestACountWithoutATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order")
		for range cap(p.turn) {
			p.turn <- struct{}{}
		}
		to := enginetest.MinuteIn(time.Minute)
		r := Request{BusinessType: "order", Span: outcomes.Span{From: to.Add(-time.Minute), To: to, Step: time.Minute}}
		_, _, err := p.Between(t.Context(), r, everything)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	})
}

// Who asks for one type does not wait until two hundred others are counted, also where it was among
// them already.
func TestATypeThatIsNamedGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all []string
		for i := range tuning.OutcomesTypes {
			all = append(all, "t"+strconv.Itoa(i))
		}
		p := open(t, all...)
		for _, businessType := range all {
			p.end(businessType, 1, 1, 0)
		}
		to := enginetest.MinuteIn(time.Minute)
		hour := outcomes.Span{From: to.Add(-time.Hour), To: to, Step: time.Minute}
		_, _, err := p.Between(t.Context(), Request{Span: hour}, everything)
		require.NoError(t, err)
		synctest.Wait()
		began, last := time.Now(), all[len(all)-1]
		_, _, err = p.Between(t.Context(), Request{BusinessType: last, Span: hour}, everything)
		require.NoError(t, err)
		require.Less(t, time.Since(began), tuning.CallTimeout)
		counted := 0
		for _, businessType := range all {
			if _, at := p.entryFor(businessType).between(hour); at != 0 {
				counted++
			}
		}
		require.Less(t, counted, len(all)/2, "the others still wait")
		for began := time.Now(); time.Since(began) < time.Duration(4*len(all))*tuning.OutcomesPace; {
			<-time.After(tuning.OutcomesAsked / 2)
			_, _, err := p.Between(t.Context(), Request{Span: hour}, everything)
			require.NoError(t, err)
		}
		for _, businessType := range all {
			_, at := p.entryFor(businessType).between(hour)
			require.NotZero(t, at, "none is forgotten")
		}
	})
}

// What no page asks for any more is not counted when its turn comes.
func TestACountWhoseTurnComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order")
		p.turn <- struct{}{}
		p.refresh(p.entryFor("order"))
		<-time.After(tuning.OutcomesAsked)
		<-p.turn
		synctest.Wait()
		require.Empty(t, p.on.Calls("CountWorkflow"))
		<-time.After(tuning.OutcomesFresh)
		p.refresh(p.entryFor("order"))
		synctest.Wait()
		require.NotEmpty(t, p.on.Calls("CountWorkflow"), "the control")
	})
}

// A type that had a failure is counted although nobody asks for it.
func TestFailuresAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "order")
		p.end("order", 1, 0, 0)
		p.end("invoice", 0, 1, 0)
		require.Equal(t, []string{"invoice"}, p.failing(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		go p.Run(ctx)
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.Contains(t, p.types, "invoice")
		require.NotContains(t, p.types, "order")
	})
}

// Of too many types, those go that were asked for longest ago, and with them a count that waits: requests
// with invented names leave nothing behind.
func TestTypesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t)
		p.turn <- struct{}{} // every count waits
		first := p.entryFor("t0")
		waits := func() bool {
			synctest.Wait()
			first.mu.Lock()
			defer first.mu.Unlock()
			return first.counting != nil
		}
		for i := range tuning.OutcomesTypes {
			p.refresh(p.entryFor("t" + strconv.Itoa(i)))
			time.Sleep(time.Second) //nolint:forbidigo // the time of the bubble
		}
		require.True(t, waits())
		p.refresh(p.entryFor("another"))
		require.False(t, waits())
		require.Len(t, p.types, tuning.OutcomesTypes)
		require.NotContains(t, p.types, "t0")
		require.Contains(t, p.types, "t1")
	})
}

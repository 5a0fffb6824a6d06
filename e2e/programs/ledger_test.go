package programs

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// Timers with known outcomes ring over a restart of the node. Every figure of the report is that
// of a count by hand, from what the API shows of each timer. WAKECALL_FAULT=long takes 20,000
// timers and three restarts.
func TestTheLedgersAgreeWithACountByHand(t *testing.T) {
	t.Parallel()
	timers, restart := 150, 100
	if process.Long() {
		timers, restart = 20_000, 6_666
	}
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	node := env.Start()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}, "retry": contract.JSON{"steps": []string{"10ms"}}, "on_time": "5ms"})
	expected := outcomes(r)
	for n := range timers {
		expected[n%len(expected)].book(env.API, kind, n)
		if n%restart == restart-1 {
			require.Zero(t, node.Stop())
			node = env.Start()
		}
	}
	env.Add(contract.JSON{"business_type": kind, "business_id": "rule", "recurrence": contract.JSON{"every": "1s", "max_occurrences": 3}})
	env.Await(kind+"/rule", "delivered")

	byHand := tally{api: env.Client(), kind: kind}
	for n := range timers {
		of := expected[n%len(expected)]
		env.Await(kind+"/"+of.id(n), of.status)
		first := byHand.readTimer(t, of.id(n))
		if of.redelivered {
			env.Do("POST", "/v1/timers/"+kind+"/"+of.id(n)+"/redeliver", nil, http.StatusOK)
			env.Await(kind+"/"+of.id(n), "delivered")
			byHand.readAgain(t, of.id(n), first)
		}
	}
	byHand.readOccurrences(t, "rule")
	require.Zero(t, node.Stop())
	env.Start()
	reports, err := env.Client().Timers.Objectives(t.Context(), client.ObjectivesOptions{BusinessType: kind, Window: 24 * time.Hour, Target: 0.9})
	require.NoError(t, err)
	require.Len(t, reports.BusinessTypes, 1)
	require.Empty(t, byHand.differences(reports.BusinessTypes[0]))
	requireEachFigureMatters(t, byHand, reports.BusinessTypes[0])
}

// requireEachFigureMatters is the control: a report that is wrong in one figure differs.
func requireEachFigureMatters(t *testing.T, byHand tally, report slo.Report) {
	t.Helper()
	right := reflect.ValueOf(report)
	for i := range right.NumField() {
		field := right.Type().Field(i).Name
		if slices.Contains([]string{"BusinessType", "From", "To", "Objective", "BudgetLeft", "Open"}, field) {
			continue // not counted
		}
		wrong := report
		switch v := reflect.ValueOf(&wrong).Elem().Field(i); shown := v.Interface().(type) {
		case int64:
			v.SetInt(shown + 1)
		case *int64:
			more := *shown*2 + 1 // a quantile may be a little too high
			v.Set(reflect.ValueOf(&more))
		case *float64:
			less := *shown - 1e-6
			v.Set(reflect.ValueOf(&less))
		}
		require.Len(t, byHand.differences(wrong), 1, field)
	}
}

// onePayload is the payload of each timer, and onTime the limit of the policy.
const (
	onePayload = `"12345"`
	onTime     = 5 * time.Millisecond
)

// outcome is how some of the timers end.
type outcome struct {
	name, status string
	terms        contract.JSON
	// redelivered reports whether they are tried again.
	redelivered bool
}

func outcomes(r *receiver.Receiver) []outcome {
	to := func(url string) contract.JSON { return contract.JSON{"callback": contract.JSON{"url": url}} }
	return []outcome{
		{name: "taken", status: "delivered", terms: to(r.URL)},
		{name: "gone", status: "failed", terms: to(r.On("/gone", receiver.Status(http.StatusGone)))},
		{name: "twice", status: "delivered", terms: to(r.On("/once", receiver.FailFirst(1)))},
		{name: "again", status: "failed", terms: to(r.On("/again", receiver.FailFirst(2))), redelivered: true},
		{name: "cancelled", status: "cancelled", terms: contract.JSON{"delay": "1h"}},
		{name: "missed", status: "expired", terms: contract.JSON{"paused": true, "expires_after": "100ms"}},
	}
}

func (o outcome) id(n int) string { return fmt.Sprintf("%s-%d", o.name, n) }

// book books the nth timer, and cancels it if that is how it ends.
func (o outcome) book(api process.API, kind string, n int) {
	timer := contract.JSON{"business_type": kind, "business_id": o.id(n), "delay": "200ms", "payload": "12345"}
	for name, value := range o.terms {
		timer[name] = value
	}
	api.Add(timer)
	if o.status == "cancelled" {
		api.Do("DELETE", "/v1/timers/"+kind+"/"+o.id(n), nil, http.StatusOK)
	}
}

// tally is the count by hand.
type tally struct {
	api    *client.Client
	kind   string
	counts slo.Counts
	// latenesses are in milliseconds.
	latenesses []int64
}

func (l *tally) readTimer(t *testing.T, id string) (outcome timer.Outcome) {
	t.Helper()
	l.counts.Book(len(onePayload))
	outcome = l.read(t, id)
	l.observe(outcome)
	return outcome
}

// readAgain counts a timer that was tried again, with no second first attempt.
func (l *tally) readAgain(t *testing.T, id string, first timer.Outcome) {
	t.Helper()
	outcome := l.read(t, id)
	require.Equal(t, first.LatenessMS, outcome.LatenessMS, id)
	l.counts.Delivered++
	l.counts.Attempts += int64(outcome.Attempts)
}

func (l *tally) read(t *testing.T, id string) timer.Outcome {
	t.Helper()
	shown, err := l.api.Timers.Get(t.Context(), wire.Key{BusinessType: l.kind, BusinessID: id})
	require.NoError(t, err)
	return timer.Outcome{Status: shown.Status, Attempts: shown.Attempts, LatenessMS: shown.LatenessMS}
}

func (l *tally) readOccurrences(t *testing.T, id string) {
	t.Helper()
	l.counts.Book(0)
	for past, err := range l.api.Timers.Occurrences(t.Context(), wire.Key{BusinessType: l.kind, BusinessID: id}) {
		require.NoError(t, err)
		l.observe(past.Outcome)
	}
}

func (l *tally) observe(outcome timer.Outcome) {
	l.counts.Observe(outcome, onTime)
	if outcome.LatenessMS != nil && outcome.Status != timer.Cancelled {
		l.latenesses = append(l.latenesses, max(*outcome.LatenessMS, 0))
	}
}

// differences are the figures in which a report differs.
func (l *tally) differences(got slo.Report) (found []string) {
	slices.Sort(l.latenesses)
	want, worst := l.counts, l.latenesses[len(l.latenesses)-1]
	for name, figures := range map[string][2]int64{
		"booked": {want.Booked, got.Booked}, "bytes": {want.Bytes, got.Bytes}, "rung": {want.Rung, got.Rung}, "on time": {want.OnTime, got.OnTime},
		"missed": {want.Missed, got.Missed}, "delivered": {want.Delivered, got.Delivered}, "failed": {want.Failed, got.Failed},
		"expired": {want.Expired, got.Expired}, "attempts": {want.Attempts, got.Attempts}, "worst": {worst, *got.WorstMS},
	} {
		if figures[0] != figures[1] {
			found = append(found, fmt.Sprintf("%s: by hand %d, in the report %d", name, figures[0], figures[1]))
		}
	}
	if share := float64(want.OnTime) / float64(want.Rung+want.Missed); math.Abs(share-*got.Share) > 1e-9 {
		found = append(found, fmt.Sprintf("share: by hand %f, in the report %f", share, *got.Share))
	}
	for q, shown := range map[float64]int64{0.5: *got.P50MS, 0.99: *got.P99MS} {
		exact := l.latenesses[max(int(math.Ceil(float64(len(l.latenesses))*q)), 1)-1]
		if shown < exact || float64(shown) > float64(exact)*1.0625 {
			found = append(found, fmt.Sprintf("quantile %f: by hand %d, in the report %d", q, exact, shown))
		}
	}
	return found
}

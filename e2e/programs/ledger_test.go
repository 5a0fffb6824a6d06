package programs

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// Timers with known outcomes ring over restarts of the node. Every figure of the report is that
// of a count by hand, which knows what each kind of outcome adds, and reads from the API only how
// late each timer was. WAKECALL_FAULT=long takes 20,000 timers.
func TestTheLedgersAgreeWithACountByHand(t *testing.T) {
	t.Parallel()
	timers, restart := 150, 60
	if process.Long() {
		timers, restart = 20_000, 6_666
	}
	d := newDeployment(t)
	books := d.books()
	for n := range timers {
		books.of(n).book(n)
		if n%restart == restart-1 {
			d.restart()
		}
	}
	d.restart()
	for n := range timers {
		books.of(n).end(n)
	}
	d.restart()
	shown := d.reports()
	hands := map[string]*tally{}
	for _, one := range books {
		hands[one.hand.BusinessType] = one.hand
	}
	require.Len(t, shown, len(hands))
	for businessType, hand := range hands {
		require.Empty(t, hand.differences(shown[businessType]), businessType)
		requireEachFigureMatters(t, hand, shown[businessType])
	}
}

// deployment is a standalone node, and a receiver of its callbacks.
type deployment struct {
	*process.Standalone
	r    *receiver.Receiver
	node *process.Process
	// nowhere is a callback that refuses connections.
	nowhere string
}

func newDeployment(t *testing.T) *deployment {
	env := process.NewStandalone(t)
	return &deployment{env, receiver.New(t), env.Start(), "http://" + loopback.Addr() + "/"}
}

func (d *deployment) restart() {
	d.T.Helper()
	require.Zero(d.T, d.node.Stop())
	d.node = d.Start()
}

// reports are those of all types, by name. Each is also that of its type alone.
func (d *deployment) reports() map[string]slo.Report {
	options, found := client.ObjectivesOptions{Window: 24 * time.Hour, Target: 0.9}, map[string]slo.Report{}
	all, err := d.Client().Timers.Objectives(d.T.Context(), options)
	require.NoError(d.T, err)
	for _, report := range all.BusinessTypes {
		options.BusinessType = report.BusinessType
		alone, err := d.Client().Timers.Objectives(d.T.Context(), options)
		require.NoError(d.T, err)
		alone.BusinessTypes[0].From, alone.BusinessTypes[0].To = report.From, report.To
		require.Equal(d.T, []slo.Report{report}, alone.BusinessTypes)
		found[report.BusinessType] = report
	}
	return found
}

// books are the kinds of outcomes of three business types: one with a policy, one without, and one
// whose callback is down and that has a second link.
func (d *deployment) books() (all shelf) {
	policed, bare, linked := d.tally(5*time.Millisecond), d.tally(time.Second), d.tally(7*time.Minute)
	d.Policy(policed.BusinessType, contract.JSON{
		"callback": contract.JSON{"url": d.r.URL}, "retry": contract.JSON{"steps": []string{"10ms"}}, "on_time": "5ms", "ack": contract.JSON{"within": "1h"},
	})
	d.Policy(linked.BusinessType, contract.JSON{
		"callback": contract.JSON{"url": d.nowhere}, "fallback": contract.JSON{"url": d.r.URL, "after": "1s"}, "on_time": "7m",
		"retry": contract.JSON{"steps": []string{"1s", "1s", "1s"}}, "ack": contract.JSON{"within": "1h"},
	})
	for _, of := range d.outcomes() {
		all = append(all, book{d, of, policed})
	}
	for _, of := range append(d.bareOutcomes(), d.recurringOutcomes()...) {
		all = append(all, book{d, of, bare})
	}
	return append(all, book{d, d.byTheSecondLink(), linked}, book{d, d.takenLater(), linked})
}

func (d *deployment) tally(onTime time.Duration) *tally {
	return &tally{Report: slo.Report{BusinessType: sample.Type(d.T)}, onTime: onTime}
}

// shelf is a book of each kind.
type shelf []book

// of is the book of the nth timer. The first thousand are of all kinds. The others end by
// themselves, since a call for each would take an hour.
func (s shelf) of(n int) book {
	if n >= 1000 {
		s = slices.DeleteFunc(slices.Clone(s), func(b book) bool { return b.then != nil || b.count != nil })
	}
	return s[n%len(s)]
}

// book is a kind of outcome, and the count by hand that it adds to.
type book struct {
	*deployment
	outcome
	hand *tally
}

func (b book) id(n int) string { return fmt.Sprintf("%s-%d", b.name, n) }

func (b book) path(n int) string { return b.hand.BusinessType + "/" + b.id(n) }

// book books the nth timer of this kind.
func (b book) book(n int) {
	b.T.Helper()
	timer := contract.JSON{"business_type": b.hand.BusinessType, "business_id": b.id(n), "delay": "200ms", "payload": "12345"}
	for name, value := range b.terms {
		if timer[name] = value; name == "recurrence" {
			delete(timer, "delay")
		}
	}
	switch b.name {
	case "put":
		delete(timer, "business_type")
		delete(timer, "business_id")
		b.Do("PUT", "/v1/timers/"+b.path(n), timer, http.StatusCreated)
	case "batched": // the second one is refused
		b.Do("POST", "/v1/timers/batch", contract.JSON{"timers": []contract.JSON{timer, {"business_type": b.hand.BusinessType, "business_id": "x"}}}, http.StatusOK)
	default:
		b.Add(timer)
	}
	b.hand.add(slo.Report{Booked: 1, Bytes: int64(len(`"12345"`))})
}

// end brings the nth timer to its end, and counts it.
func (b book) end(n int) {
	b.T.Helper()
	if b.then != nil {
		b.then(b, n)
	}
	shown := b.Get(b.path(n)) // most have ended long ago
	if shown.Status != b.ends {
		shown = b.Await(b.path(n), b.ends)
	}
	switch adds := b.adds; {
	case b.count != nil:
		b.count(b, n)
	default:
		b.hand.add(adds)
		if adds.Rung > adds.Unsent {
			require.NotNil(b.T, shown.LatenessMS, b.path(n))
			b.hand.late(*shown.LatenessMS)
		}
	}
}

// countOccurrences counts the occurrences of the nth timer, which were all delivered or given up.
func (b book) countOccurrences(n int) {
	b.hand.add(b.adds)
	for past, err := range b.Client().Timers.Occurrences(b.T.Context(), wire.Key{BusinessType: b.hand.BusinessType, BusinessID: b.id(n)}) {
		require.NoError(b.T, err)
		if past.Status == "delivered" {
			b.hand.late(*past.LatenessMS)
		}
	}
}

// countAttempts counts the nth timer by its attempts: which link made the first one is not known
// before.
func (b book) countAttempts(n int) {
	adds, first := slo.Report{Rung: 1, Delivered: 1}, time.Time{}
	for attempt, err := range b.Client().Timers.Attempts(b.T.Context(), wire.Key{BusinessType: b.hand.BusinessType, BusinessID: b.id(n)}) {
		require.NoError(b.T, err)
		adds.Attempts++
		if attempt.Number == 1 {
			first = attempt.SentAt.Time()
		}
	}
	if shown := b.Get(b.path(n)); shown.LatenessMS != nil {
		b.hand.late(*shown.LatenessMS)
	} else {
		require.LessOrEqual(b.T, first.UnixMilli(), int64(0), "nothing of it was sent")
		adds.Unsent = 1
	}
	b.hand.add(adds)
}

// requireEachFigureMatters is the control: a report that is wrong in one figure differs.
func requireEachFigureMatters(t *testing.T, byHand *tally, report slo.Report) {
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

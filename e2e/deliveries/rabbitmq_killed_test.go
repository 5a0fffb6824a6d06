package deliveries

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// load is timers of one type that are due one after the other, and where they arrived.
type load struct {
	*testenv.Env
	kind string
	due  map[string]time.Time // by webhook id
	ids  map[string]string    // business ids
}

// onTime is whether nothing else runs (make punctual). The promise is held to there: a
// machine that is busy with other tests is late by itself.
var onTime = os.Getenv("WAKECALL_PUNCTUAL") != ""

const (
	loadTimers = 120
	loadAfter  = 2 * time.Second
	loadMargin = 2 * time.Second // what a timer may be late beyond loadAfter, see [latestArrival]
)

func newLoad(t *testing.T, env *testenv.Env, kind string) *load {
	l := &load{Env: env, kind: kind, due: map[string]time.Time{}, ids: map[string]string{}}
	first, pace := time.Now().Add(3*time.Second), 40*time.Millisecond
	bookings := make([]wakecall.Booking, loadTimers)
	for i := range bookings {
		bookings[i].Key = wire.Key{BusinessType: kind, BusinessID: strconv.Itoa(i)}
		bookings[i].DueAt = wire.At(first.Add(time.Duration(i) * pace))
	}
	for _, one := range sample.BookBatch(t, env.Wakecall(), bookings) {
		l.due[one.WebhookID], l.ids[one.WebhookID] = one.DueAt.Time(), one.BusinessID
	}
	return l
}

// latestArrival is how late a timer of the load may be.
func latestArrival() time.Duration {
	if onTime {
		return loadAfter + loadMargin
	}
	return time.Minute
}

// A broker that is killed under load: no timer is later than the stated time and two
// seconds, none is lost, and none comes twice but those that were in flight. What has no
// second link waits for the broker, and so does not the type once it is there again.
func (h house) goOverWhenTheBrokerIsKilled(t *testing.T) {
	const kind, alone = "order-pay", "order-wait"
	r := receiver.New(t)
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": kind},
		"fallback": testenv.JSON{"url": r.URL + "/second", "after": loadAfter.String()},
		"retry":    testenv.JSON{"steps": []string{"1h", "1h"}}, // which nobody waits for
	})
	h.Policy(alone, testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": alone},
		"retry": testenv.JSON{"initial": "200ms", "max_interval": "5s", "max_attempts": 100}, // for as long as a broker takes to start
	})
	q, l := receiver.NewQueue(t, h.broker.URL, kind), newLoad(t, h.Env, kind)
	require.Eventually(t, func() bool {
		arrived, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && arrived.Messages > loadTimers/4
	}, testenv.Patience, testenv.Interval, "the load is under way")
	h.broker.Kill()
	h.Add(testenv.JSON{"business_type": alone, "business_id": "1", "delay": "0s"})
	h.AwaitAll(kind, loadTimers, "delivered")
	require.Eventually(t, func() bool { return h.Get(alone+"/1").Attempts > 0 }, testenv.Patience, 50*time.Millisecond, "it was tried")

	h.broker.Restart()
	l.holdTo(t, r, receiver.NewQueue(t, h.broker.URL, kind))
	require.Equal(t, h.Get(alone+"/1").WebhookID, receiver.NewQueue(t, h.broker.URL, alone).Next().MessageId, "what has no second link waits")
	h.Await(alone+"/1", "delivered")
	for i, link := loadTimers, "fallback"; link != "callback"; i++ {
		id := strconv.Itoa(i)
		h.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "500ms"})
		link = h.Await(kind+"/"+id, "delivered").Link // one of them finds out that it is there again
		require.Less(t, i, loadTimers+100)
	}
}

// holdTo holds the load to what a second link promises.
func (l *load) holdTo(t *testing.T, r *receiver.Receiver, q receiver.Queue) {
	arrived, links := map[string]int{}, map[delivery.Link]int{}
	for _, call := range r.To("/second") {
		id := call.Header.Get("webhook-id")
		arrived[id]++
		require.LessOrEqual(t, call.At.Sub(l.due[id]), latestArrival(), "%s is late", l.ids[id])
	}
	kept, err := q.QueueDeclarePassive(q.Name, true, false, false, false, nil)
	require.NoError(t, err)
	for range kept.Messages {
		d := q.Next()
		arrived[d.MessageId]++
	}
	var slowest time.Duration
	listed := 0
	for shown, err := range l.Wakecall().Timers.List(t.Context(), wakecall.Filter{BusinessType: l.kind}) {
		require.NoError(t, err)
		id, late := shown.WebhookID, shown.DeliveredAt.Time().Sub(l.due[shown.WebhookID])
		require.LessOrEqual(t, late, latestArrival())
		require.Positive(t, arrived[id], "%s is lost", l.ids[id])
		if arrived[id] > 1 {
			require.LessOrEqual(t, arrived[id], 1+l.unanswered(t, id), "%s came twice, and was not in flight", l.ids[id])
		}
		links[shown.Link]++
		slowest = max(slowest, late)
		listed++
	}
	require.Equal(t, loadTimers, listed)
	require.Positive(t, links[delivery.LinkCallback])
	require.Positive(t, links[delivery.LinkFallback])
	t.Logf("by link: %v; the slowest took %s", links, slowest)
}

// unanswered is how many attempts of a timer had been sent, for all that anybody knows, when
// the broker was killed.
func (l *load) unanswered(t *testing.T, id string) (attempts int) {
	for _, made := range attemptsOf(t, l.Env, l.kind+"/"+l.ids[id]) {
		if made.Class == delivery.BrokenAnswer || made.Class == delivery.Timeout {
			attempts++
		}
	}
	return attempts
}

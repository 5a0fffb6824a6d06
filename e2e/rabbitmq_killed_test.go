package e2e

import (
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/rabbit"
	"github.com/wakecall/wakecall/timer"
)

// load is timers of one type that are due one after the other, and where they arrived.
type load struct {
	*testenv.Env
	kind string
	due  map[string]time.Time // by webhook id
	ids  map[string]string    // business ids
}

const (
	loadTimers  = 200
	loadPace    = 40 * time.Millisecond
	loadAfter   = 2 * time.Second
	loadMargin  = 2 * time.Second // what a timer may be late beyond loadAfter, see [latestArrival]
	loadInTouch = time.Second     // an attempt that began so long before may be in flight
)

func newLoad(t *testing.T, env *testenv.Env, kind string) *load {
	l := &load{Env: env, kind: kind, due: map[string]time.Time{}, ids: map[string]string{}}
	first := time.Now().Add(3 * time.Second)
	bookings := make([]wakecall.Booking, loadTimers)
	for i := range bookings {
		bookings[i].Key = timer.Key{BusinessType: kind, BusinessID: strconv.Itoa(i)}
		bookings[i].DueAt = timer.At(first.Add(time.Duration(i) * loadPace))
	}
	added, err := env.Wakecall().Timers.AddBatch(t.Context(), bookings)
	require.NoError(t, err)
	for _, one := range added {
		require.Equal(t, http.StatusCreated, one.Status)
		l.due[one.Timer.WebhookID], l.ids[one.Timer.WebhookID] = one.Timer.DueAt.Time(), one.Timer.BusinessID
	}
	return l
}

// latestArrival is how late a timer of the load may be. The promise is held to where nothing else
// runs (make punctual): a machine that is busy with other tests is late by itself.
func latestArrival() time.Duration {
	if os.Getenv("WAKECALL_PUNCTUAL") == "" {
		return time.Minute
	}
	return loadAfter + loadMargin
}

// A broker that is killed under load: no timer is later than the stated time and two
// seconds, none is lost, and none comes twice but those that were in flight. What has no
// second link waits for the broker, and so does not the type once it is there again.
func goesOverWhenTheBrokerIsKilled(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	const kind, alone = "order-pay", "order-wait"
	r := receiver.New(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": kind},
		"fallback": testenv.JSON{"url": r.URL + "/second", "after": loadAfter.String()},
		"retry":    testenv.JSON{"steps": []string{"1h", "1h"}}, // which nobody waits for
	})
	env.Policy(alone, testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": alone},
		"retry": testenv.JSON{"initial": "200ms", "max_interval": "500ms", "max_attempts": 100},
	})
	q, l := newQueue(t, broker, kind), newLoad(t, env, kind)
	require.Eventually(t, func() bool {
		arrived, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && arrived.Messages > loadTimers/4
	}, 30*time.Second, 10*time.Millisecond, "the load is under way")
	killed := time.Now()
	broker.Kill()
	env.Add(testenv.JSON{"business_type": alone, "business_id": "1", "delay": "0s"})
	env.AwaitAll(kind, loadTimers, "delivered")
	require.Eventually(t, func() bool { return env.Get(alone+"/1").Attempts > 0 }, 20*time.Second, 50*time.Millisecond, "it was tried")

	broker.Restart()
	l.holdTo(t, r, newQueue(t, broker, kind), killed)
	require.Equal(t, env.Get(alone+"/1").WebhookID, newQueue(t, broker, alone).next().MessageId, "what has no second link waits")
	env.Await(alone+"/1", "delivered")
	for i, link := loadTimers, "fallback"; link != "callback"; i++ {
		id := strconv.Itoa(i)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "500ms"})
		link = env.Await(kind+"/"+id, "delivered").Link // one of them finds out that it is there again
		require.Less(t, i, loadTimers+100)
	}
}

// holdTo holds the load to what a second link promises.
func (l *load) holdTo(t *testing.T, r *receiver.Receiver, q queue, killed time.Time) {
	arrived, links := map[string]int{}, map[string]int{}
	for _, call := range r.To("/second") {
		id := call.Header.Get("webhook-id")
		arrived[id]++
		require.LessOrEqual(t, call.At.Sub(l.due[id]), latestArrival(), "%s is late", l.ids[id])
	}
	kept, err := q.QueueDeclarePassive(q.name, true, false, false, false, nil)
	require.NoError(t, err)
	for range kept.Messages {
		d := q.next()
		arrived[d.MessageId]++
	}
	var slowest time.Duration
	for id, due := range l.due {
		shown := l.Get(l.kind + "/" + l.ids[id])
		links[shown.Link]++
		slowest = max(slowest, shown.DeliveredAt.Sub(due))
		require.LessOrEqual(t, shown.DeliveredAt.Sub(due), latestArrival())
		require.Positive(t, arrived[id], "%s is lost", l.ids[id])
		inFlight := due.After(killed.Add(-loadInTouch)) && due.Before(killed.Add(loadInTouch))
		require.True(t, arrived[id] == 1 || inFlight, "%s came %d times", l.ids[id], arrived[id])
	}
	require.Positive(t, links["callback"])
	require.Greater(t, links["fallback"], loadTimers/4)
	t.Logf("by link: %v; the slowest took %s", links, slowest)
}

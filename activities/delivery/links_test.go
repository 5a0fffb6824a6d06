package delivery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

const (
	firstURL, secondURL = "http://receiver.example", "http://second.example"
	after               = 5 * time.Second
)

// twoLinks is a queue whose policy has a fallback, and the receivers of both links.
type twoLinks struct {
	*queue
	first, second func(context.Context) delivery.Answer
}

func withFallback(t *testing.T) *twoLinks {
	l := &twoLinks{queue: newQueue(t), first: down, second: answers(delivery.Answer{Delivered: true, Status: 200})}
	l.policy.Callback.Headers = map[string]string{"Authorization": "first"}
	l.policy.Declare = &delivery.Declare{Queue: "q"}
	l.policy.Fallback = &delivery.Fallback{
		Callback: delivery.Callback{Destination: delivery.HTTP(secondURL), Headers: map[string]string{"X-Second": "yes"}}, After: wire.Duration(after),
	}
	l.policy = l.policy.WithDefaults()
	l.answer = func(ctx context.Context) delivery.Answer {
		if l.calls[len(l.calls)-1].Destination.URL == secondURL {
			return l.second(ctx)
		}
		return l.first(ctx)
	}
	return l
}

func down(context.Context) delivery.Answer { return delivery.Answer{Class: delivery.ConnectFailure} }

// begin begins another timer of the type.
func (l *twoLinks) begin() {
	l.state.Last = nil
	l.forgetReceipts()
}

// called are the hosts called since the last time.
func (l *twoLinks) called() (urls []string) {
	for _, call := range l.calls {
		urls = append(urls, call.Destination.URL)
	}
	l.calls = nil
	return urls
}

// again awaits the next attempt of the timer, and makes it.
func (l *twoLinks) again() delivery.Report {
	<-time.After(l.state.Last.RetryIn.D())
	return l.try()
}

// A type switches once its callback has failed for the configured time. An earlier failed
// timer waits no longer, regardless of its ladder, and a timer due later is not late at all.
func TestATypeGoesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		failed := l.try()
		require.Equal(t, after, failed.RetryIn.D(), "its ladder says 10 s")
		require.Equal(t, delivery.LinkCallback, failed.Link)
		require.NotZero(t, failed.DownSince)
		first := failed
		<-time.After(3 * time.Second)
		l.begin()
		failed = l.try()
		require.Equal(t, 2*time.Second, failed.RetryIn.D(), "the time counts for the type")
		require.Equal(t, first.DownSince, failed.DownSince)
		require.Equal(t, []string{firstURL, firstURL}, l.called())

		probe := l.again()
		require.Equal(t, delivery.LinkCallback, probe.Link, "one finds out whether it is still so")
		require.Zero(t, probe.RetryIn)
		delivered := l.again()
		require.Equal(t, delivery.ResultDelivered, delivered.Result)
		require.Equal(t, delivery.LinkFallback, delivered.Link)
		require.Equal(t, 3, delivered.Attempt)
		second := l.calls[1]
		require.Equal(t, secondURL, second.Destination.URL)
		require.Equal(t, l.delivery.Spec.WebhookID(), second.ID, "under the same id")
		require.Equal(t, "yes", second.Headers["X-Second"])
		require.Empty(t, second.Headers["Authorization"], "which is for the callback")
		require.Nil(t, second.Declare)
	})
}

// While the callback is down, one due timer at a time tries it, at growing intervals; the
// others never wait for it. The first success ends this.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		l.try()
		<-time.After(after)
		began, probes := time.Now(), []time.Duration{}
		for range 100 {
			l.begin()
			report := l.try()
			if report.Link == delivery.LinkCallback {
				probes = append(probes, time.Since(began))
				require.Equal(t, delivery.ResultRetry, report.Result)
				require.Zero(t, report.RetryIn, "the timer that found out is delivered at once")
				report = l.again()
			}
			require.Equal(t, delivery.LinkFallback, report.Link)
			require.Equal(t, delivery.ResultDelivered, report.Result)
			<-time.After(time.Second)
		}
		require.Equal(t, []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 61 * time.Second, 91 * time.Second}, probes)

		l.first = l.second
		<-time.After(tuning.LongestLinkProbe)
		l.called()
		for range 3 {
			l.begin()
			require.Equal(t, delivery.LinkCallback, l.try().Link)
		}
		require.Equal(t, []string{firstURL, firstURL, firstURL}, l.called())
		l.first = down
		l.begin()
		require.Equal(t, after, l.try().RetryIn.D(), "a new failure counts from its own beginning")
	})
}

// A probe that hangs delays its own timer by its timeout, and no other.
func TestAProbeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		l.try()
		<-time.After(after)
		l.begin()
		var beside delivery.Report
		l.first = func(ctx context.Context) delivery.Answer {
			c := settings{policy: l.policy, callback: l.policy.Callback, fallback: l.policy.Fallback, retry: l.policy.Retry}
			beside.Link = l.attempter.links.choose(c, nil, time.Now()).link
			return hangs(ctx)
		}
		began := time.Now()
		report := l.try()
		require.Equal(t, tuning.FirstLinkProbe, time.Since(began))
		require.Zero(t, report.RetryIn)
		require.Equal(t, delivery.LinkFallback, beside.Link, "while it is under way")
		require.Equal(t, delivery.ResultDelivered, l.again().Result)
	})
}

// A callback that has used up the ladder gives way to the fallback at once, and a delivery
// fails when both have.
func TestBothLinksFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		refused := answers(delivery.Answer{Class: delivery.Answered, Status: 400, Detail: "HTTP 400"})
		l.first, l.second = refused, refused
		var waits []time.Duration
		report := l.try()
		for report.Result == delivery.ResultRetry {
			waits = append(waits, report.RetryIn.D())
			report = l.again()
		}
		require.Equal(t, delivery.ResultFailed, report.Result)
		require.Equal(t, []string{firstURL, firstURL, firstURL, secondURL, secondURL, secondURL}, l.called())
		require.Equal(t, []time.Duration{10 * time.Second, time.Minute, 0, 10 * time.Second, time.Minute}, waits)
		require.Equal(t, 6, report.Attempt)
		require.Equal(t, delivery.LinkFallback, report.Link)

		l.begin()
		l.first, l.second = down, down
		for report = l.try(); report.Result == delivery.ResultRetry; {
			report = l.again()
		}
		require.Equal(t, 6, report.Attempt, "each has its ladder, whatever the order")
	})
}

// A worker learns from a timer what another worker knew, unless its own knowledge is newer.
func TestWhatOtherWorkersKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		failed := l.try()
		<-time.After(after)
		fresh := withFallback(t)
		fresh.state.Last = &failed
		probe := fresh.try()
		require.Equal(t, delivery.LinkCallback, probe.Link, "it finds out first whether that is still so")
		require.Equal(t, failed.DownSince, probe.DownSince)
		require.Zero(t, probe.RetryIn)
		require.Equal(t, delivery.LinkFallback, fresh.again().Link)

		served := withFallback(t)
		served.first = served.second
		served.try()
		served.begin()
		served.state.Last = &failed
		served.first = down
		report := served.try()
		require.Equal(t, after, report.RetryIn.D(), "it was served since")
	})
}

// With a fallback, a receiver that is down does not hold its type back; a working one that
// requests patience does.
func TestPatienceOfTwoLinks(t *testing.T) {
	for status, held := range map[int]bool{503: false, 429: true} {
		synctest.Test(t, func(t *testing.T) {
			l := withFallback(t)
			l.first = answers(delivery.Answer{Class: delivery.Answered, Status: status, RetryAfter: time.Minute})
			report := l.try()
			require.Equal(t, held, len(l.wishes) == 1, "%d", status)
			require.Equal(t, held, report.RetryIn.D() > after, "%d", status)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		l.try()
		l.second = answers(delivery.Answer{Class: delivery.Answered, Status: 429, RetryAfter: time.Minute})
		require.Equal(t, delivery.LinkCallback, l.again().Link)
		report := l.again()
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Equal(t, time.Minute, report.RetryIn.D(), "the fallback's patience is the timer's")
		require.Empty(t, l.wishes, "and not the type's")
	})
}

// A timer with its own destination has no second link.
func TestOwnDestinationsHaveNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := withFallback(t)
		l.delivery.Spec.Callback = &delivery.Callback{Destination: delivery.HTTP("http://own.example")}
		report := l.try()
		require.Equal(t, 10*time.Second, report.RetryIn.D())
		require.Empty(t, report.Link)
		require.Equal(t, []string{"http://own.example"}, l.called())
	})
}

// An attempt that is cut off is no evidence, and lets another one probe.
func TestAProbeThatIsCutOff(t *testing.T) {
	t.Parallel()
	links, err := newLinks()
	require.NoError(t, err)
	c := settings{
		policy: policy.Policy{BusinessType: "x"}, callback: delivery.Callback{Destination: delivery.HTTP(firstURL)},
		fallback: &delivery.Fallback{After: wire.Duration(time.Second)}, retry: delivery.DefaultRetry(),
	}
	since := &delivery.Report{DownSince: wire.At(time.Now().Add(-time.Minute))}
	probe := links.choose(c, since, time.Now())
	require.NotNil(t, probe.probe)
	require.Equal(t, delivery.LinkFallback, links.choose(c, nil, time.Now()).link)
	links.release(c, probe)
	require.NotNil(t, links.choose(c, nil, time.Now()).probe)
	moved := c
	moved.callback.Destination = delivery.HTTP("http://moved.example")
	require.Equal(t, route{link: delivery.LinkCallback}, links.choose(moved, nil, time.Now()), "nothing is known of another receiver")
}

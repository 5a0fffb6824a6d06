package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

// second is an element for an early second.
func second(n int) string {
	return fmt.Sprintf(`<time datetime="1970-01-01T00:00:%02d.000Z" title="1970-01-01 00:00:%02[1]d UTC">1970-01-01 00:00:%02[1]d UTC</time>`, n)
}

// What a reason is about is said in both languages: which attempt failed and how, and how much an
// emergency stops.
func TestReasonsSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	answered := &delivery.Failure{Status: 503, Class: delivery.Answered, At: 1}
	between := viewOf(timer.Delivering)
	between.DueAt, between.Attempts, between.LastFailure, between.NextAttemptAt = 1, 3, answered, wire.At(time.Now().Add(time.Hour))
	slow := between
	slow.LastFailure = &delivery.Failure{Class: delivery.Timeout, At: 1}
	failed := viewOf(timer.Failed)
	failed.Attempts, failed.LastFailure = 9, answered
	held := viewOf(timer.Delivering)
	held.Wait = delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: 5000, WaitsBy: "anna", WaitsNote: "fire"}
	stopped := held
	stopped.Circumstances.AllPaused = true
	waiting := viewOf(timer.Delivering)
	waiting.Wait = delivery.Wait{WaitsFor: delivery.WaitsForReceiver, WaitsBy: delivery.HeldByReceiver}
	limited, unpolled, overdue := between, between, viewOf(timer.Scheduled)
	limited.LastFailure, limited.Wait = nil, delivery.Wait{WaitsFor: delivery.WaitsForLimit}
	limited.Circumstances = timer.Circumstances{Queued: 7, PerSecond: 0.5}
	slowest := limited
	slowest.Circumstances = timer.Circumstances{Queued: 10_000_001, PerSecond: 0.001}
	unpolled.LastFailure, unpolled.Wait = nil, delivery.Wait{WaitsFor: delivery.WaitsForWorker}
	unpolled.Circumstances.LastPoll = 5000
	overdue.DueAt, overdue.Circumstances = 1000, timer.Circumstances{WokenBy: wire.At(time.Date(2970, 1, 1, 0, 0, 7, 0, time.UTC)), Unread: []timer.ReasonSource{timer.FromEmergency}}
	far := strings.ReplaceAll(second(7), "1970", "2970")
	for name, c := range map[string]struct {
		view        timer.View
		paused      policy.Emergency
		said, chine string
	}{
		"between attempts":       {between, policy.Emergency{}, "Attempt 3 has failed (HTTP 503); the next one waits for its time.", "第 3 次尝试失败（HTTP 503）"},
		"an attempt unanswered":  {slow, policy.Emergency{}, "Attempt 3 has failed (timeout)", "第 3 次尝试失败（超时）"},
		"failed":                 {failed, policy.Emergency{}, "It has failed at attempt 9 (HTTP 503)", "第 9 次尝试后失败（HTTP 503）"},
		"everything is paused":   {stopped, policy.Emergency{}, "The callbacks of all business types are paused by anna. Since " + second(5) + ". <q dir=\"auto\">fire</q>", "全部业务类型的回调已被 anna 暂停。 自 " + second(5) + " 起。 <q dir=\"auto\">fire</q>"},
		"its type is paused":     {held, policy.Emergency{}, "The callbacks of its business type are paused by anna. Since", "该业务类型的回调已被 anna 暂停。"},
		"another pause is known": {held, policy.Emergency{Everything: true, Since: 6}, "The callbacks of its business type are paused by anna.", "该业务类型的回调已被 anna 暂停。"},
		"at a limit":             {limited, policy.Emergency{}, "at most 6 before it, at 0.5 a second, so about 12 s.", "前面最多还有 6 次尝试，每秒 0.5 次，约需 12 秒。"},
		"at the slowest limit":   {slowest, policy.Emergency{}, "at 0.001 a second, so about 36500 d.", "每秒 0.001 次，约需 36500 天。"},
		"no worker":              {unpolled, policy.Emergency{}, "One last asked for such attempts at " + second(5) + ". <small>", "上一次领取此类尝试是在 " + second(5) + "。 <small>"},
		"overdue":                {overdue, policy.Emergency{}, "A worker that lives wakes it by " + far + " at the latest.", "最迟会在 " + far + " 唤醒它"},
		"what is unread":         {overdue, policy.Emergency{}, "Whether its callbacks are paused could not be read.", "无法读取其回调是否已暂停。"},
		"who is the source":      {waiting, policy.Emergency{}, "that has room. <small>", "没有空闲的接收方连接。 <small>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{})
			h.shelf.views, h.shelf.paused = []timer.View{c.view}, []policy.Emergency{c.paused}
			require.Contains(t, h.get("/console/timers/order-close/1").body, c.said)
			require.Contains(t, h.get("/console/timers/order-close/1?lang=zh-CN").body, c.chine)
		})
	}
}

// Since when a timer is paused and by whom stands in its story. A pause that was refused is none.
func TestWhoPausedATimer(t *testing.T) {
	t.Parallel()
	anna, ben := &wire.Actor{Name: "anna"}, &wire.Actor{Name: "ben"}
	paused := timer.HistoryEntry{At: 3_000, Event: timer.HistoryPaused, Who: anna, Result: timer.HistoryApplied}
	booked := timer.HistoryEntry{At: 1_000, Event: timer.HistoryBooked, Who: ben}
	refused := timer.HistoryEntry{At: 9_000, Event: timer.HistoryPaused, Who: ben, Result: timer.HistoryRefused}
	replaced := timer.HistoryEntry{At: 5_000, Event: timer.HistoryChanged, Who: ben, Changes: []timer.FieldChange{{Field: "paused", To: true}}}
	for name, c := range map[string]struct {
		story []timer.HistoryEntry
		said  string
	}{
		"paused":        {[]timer.HistoryEntry{booked, paused, refused}, "Since " + second(3) + ". By anna."},
		"booked paused": {[]timer.HistoryEntry{booked}, "Since " + second(1) + ". By ben."},
		"put paused":    {[]timer.HistoryEntry{booked, paused, replaced}, "Since " + second(5) + ". By ben."},
		"not told":      {nil, "It is paused until somebody resumes it. <small>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{})
			h.shelf.views, h.shelf.story = []timer.View{viewOf(timer.Paused)}, c.story
			require.Contains(t, h.get("/console/timers/order-close/1").body, c.said)
		})
	}
}

// An end has the time of its record, and says so: the answer to the attempt came before.
func TestAnEndHasTheTimeOfItsRecord(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Delivered)}
	for event, recorded := range map[timer.HistoryEvent]bool{
		timer.HistoryDelivered: true, timer.HistoryFailed: true, timer.HistoryExpired: true, timer.HistoryCancelled: false, timer.HistoryBooked: false,
	} {
		h.shelf.story = []timer.HistoryEntry{{At: 45_100, Event: event}}
		require.Equal(t, recorded, strings.Contains(h.get(timerPath).body, "</strong> <small>(time of the record)</small>"), event)
	}
}

// The story has the worker, whether it was preloaded, when it was due, how late each attempt was, and for
// when the next one was planned.
func TestTheWholeStory(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Delivering)}
	h.shelf.story = []timer.HistoryEntry{
		{At: 1_000, Event: timer.HistoryBooked},
		{At: 8_000, Event: timer.HistoryHandedOut, Identity: "worker-7", DueAt: 10_000},
		{At: 12_000, Event: timer.HistoryAttempt, Attempt: &delivery.ShownAttempt{Attempt: delivery.Attempt{
			Number: 1, DueAt: 10_000, SentAt: 10_004, EndedAt: 12_000, TookMS: 1996, Status: 503, Result: delivery.ResultRetry, RetryIn: wire.Duration(time.Minute),
		}}},
	}
	page := h.get("/console/timers/order-close/1").body
	for _, said := range []string{
		`handed to a worker</strong> <code dir="auto">worker-7</code> · preloaded 2 s ahead`, `datetime="1970-01-01T00:00:10.000Z"`, "<strong>due</strong>", "4 ms late · took 1 s 996 ms",
		`Next one at <time datetime="1970-01-01T00:01:12.000Z"`,
	} {
		require.Contains(t, strings.ReplaceAll(page, "\n", " "), said)
	}
	chinese := h.get("/console/timers/order-close/1?lang=zh-CN").body
	for _, said := range []string{"提前 2 秒 预加载", "<strong>到期</strong>", "晚 4 毫秒 · 耗时 1 秒 996 毫秒", "下次尝试："} {
		require.Contains(t, chinese, said)
	}
}

// An answer that a user may not see is not shown as none.
func TestTheStoryWithoutAnswers(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("blind", "blind", ":operator+no-payloads")), secret: seal.NewKey()})
	h.shelf.views = []timer.View{viewOf(timer.Failed)}
	attempt := delivery.ShownAttempt{Attempt: delivery.Attempt{Number: 1, Status: 503, Result: delivery.ResultFailed}}
	told := func(who string) (answer, hidden bool) {
		h.signIn(who)
		h.shelf.story = []timer.HistoryEntry{{At: 1_000, Event: timer.HistoryAttempt, Attempt: &attempt}}
		page := h.get("/console/timers/order-close/1").body
		return strings.Contains(page, "out of order"), strings.Contains(page, "What it answered is shown with the right to see payloads.")
	}
	for answered, want := range map[string][2][2]bool{"": {{false, false}, {false, false}}, "out of order": {{true, false}, {false, true}}} {
		attempt.Answer = answered
		for i, who := range []string{"anna", "blind"} {
			answer, hidden := told(who)
			require.Equal(t, want[i], [2]bool{answer, hidden}, "%s %q", who, answered)
		}
	}
}

// What was done is said as it is: a timer that is held does not ring, though it is due now.
func TestWhatIsDoneToATimerThatIsHeld(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for waiting, said := range map[delivery.Waiting][2]string{
		delivery.WaitsForPause: {"It is due now, and rings once nothing holds it up any more.", "It is to be delivered again, and rings once nothing holds it up any more."},
		delivery.WaitsForAck:   {"It rings.", "It is delivered again."},
		"":                     {"It rings.", "It is delivered again."},
	} {
		view := viewOf(timer.Delivering)
		view.WaitsFor = waiting
		h.shelf.views = []timer.View{view}
		for i, done := range []string{"fire", "redeliver"} {
			require.Contains(t, h.get("/console/timers/order-close/1?done="+done).body, `role="status">`+said[i]+"</p>", waiting)
		}
		require.Contains(t, h.get("/console/timers/order-close/1?done=edit").body, `role="status">It calls there from now on.</p>`)
	}
	require.Contains(t, h.get("/console/timers/order-close/1?done=nonsense").body, `<div id="said"></div>`)
}

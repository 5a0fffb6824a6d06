package site

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
)

// element is the markup of an instant.
var element = regexp.MustCompile(`</?time[^>]*>`)

// said are the facts of a picture in English, as they read.
func said(p *watch.Picture) (all []string) {
	f := Frame{Speech: words.Speech{Lang: words.English, Now: p.At}}
	for _, n := range watch.NoticesOf(p) {
		all = append(all, element.ReplaceAllString(string(f.Notice(n)), ""))
	}
	return all
}

// grim is an installation in which everything is wrong at once.
func grim(now time.Time) *watch.Picture {
	p := &watch.Picture{At: now, Answers: watch.Answers{Temporal: now, Away: map[watch.Part]bool{watch.PartWorkers: true}}}
	p.Paused = []calls.Pause{{BusinessType: "refund", Author: "otto", Since: now, Note: "prices"}, {Everything: true, Author: "anna", Since: now.Add(-time.Hour)}}
	pressed := calls.Policy{BusinessType: "mail"}
	pressed.BackPressure = &struct {
		Until time.Time `json:"until"`
		Since time.Time `json:"since"`
	}{Until: now.Add(time.Minute)}
	p.Policies = []calls.Policy{{BusinessType: "report", Paused: true, PausedBy: "cara", PausedAt: now}, pressed, {BusinessType: "coupon"}}
	p.Ahead = map[string]watch.Overflow{"coupon": {At: now.Add(time.Minute), Due: 3000, Rate: 20, Lateness: 90 * time.Second}}
	return p
}

func TestTheGravestComesFirst(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)
	require.Empty(t, said(&watch.Picture{At: now}), "all is well")
	require.Equal(t, []string{
		"Everything is paused by anna since 01:51:07 UTC.",
		"No worker answers: timers may not ring.",
		"refund is paused by otto since 02:51:07 UTC.",
		"report is paused in its policy by cara since 02:51:07 UTC.",
		"mail is held back until 02:52:07 UTC: its receiver asked for it.",
		"At 02:52:07 UTC, coupon: 3,000 due, limit 1,200 a minute, the last one 90 s late.",
	}, said(grim(now)))

	p := &watch.Picture{At: now, Answers: watch.Answers{Away: map[watch.Part]bool{watch.PartEngine: true, watch.PartWorkers: true}}}
	require.Equal(t, []string{"Temporal does not answer. Until it does, nothing can be changed."}, said(p), "of the workers nothing is known")
	p.Temporal = now.Add(-40 * time.Second)
	require.Equal(t, []string{"Temporal does not answer. It did at 02:50:27 UTC. Until it does, what is shown is old, and nothing can be changed."}, said(p))

	refused := &calls.Failure{Status: 503}
	some := func(n int, like calls.Timer) *watch.Sample {
		return &watch.Sample{Timers: slices.Repeat([]calls.Timer{like}, n)}
	}
	p = &watch.Picture{At: now, Paused: []calls.Pause{{BusinessType: "refund", Author: "otto", Since: now}}}
	p.Overdue = map[string]*watch.Sample{"order": some(3, calls.Timer{}), "refund": some(1, calls.Timer{})}
	p.Failed = map[string]*watch.Sample{"mail": some(1, calls.Timer{}), "order": some(100, calls.Timer{LastFailure: refused})}
	p.Failed["order"].More = true
	p.Open = map[string]*watch.Sample{
		"feed": some(12, calls.Timer{WaitsFor: calls.WaitsForReceiver}), "invoice": some(30, calls.Timer{LastFailure: &calls.Failure{Class: "timeout"}}), "fine": some(1, calls.Timer{}),
		"refund": some(1, calls.Timer{LastFailure: refused}),
	}
	p.Past = map[string]*watch.Past{"parcel": {Repeated: &watch.Repeated{N: 1400, Of: 2900, Failure: refused}}}
	p.Policies = []calls.Policy{{BusinessType: "parcel"}}
	require.Equal(t, []string{
		"refund is paused by otto since 02:51:07 UTC.",
		"order: 3 overdue, taken by no worker.",
		"invoice: 30 being tried again (timeout).",
		"mail: 1 failed within 10 minutes.",
		"order: 100+ failed within 10 minutes (HTTP 503).",
		"parcel: 1,400 of 2,900 attempts a minute fail (HTTP 503).",
		"feed: 12 waiting, and no receiver is connected.",
	}, said(p), "what is held is not overdue")
}

// The strip has a line for each of three types, and the rest is counted.
func TestThreeTypesStandInTheStrip(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)
	p := &watch.Picture{At: now, Policies: []calls.Policy{{BusinessType: "a"}, {BusinessType: "b"}, {BusinessType: "c"}, {BusinessType: "d"}}}
	p.Failed = map[string]*watch.Sample{}
	for _, businessType := range []string{"a", "b", "c", "d"} {
		p.Failed[businessType] = &watch.Sample{Timers: []calls.Timer{{}}}
	}
	p.Open = map[string]*watch.Sample{"a": {Timers: []calls.Timer{{WaitsFor: calls.WaitsForReceiver}}}}
	p.Overdue = map[string]*watch.Sample{"a": {Timers: []calls.Timer{{}}}}
	f := Frame{strip: stripOf(p)}
	var types []string
	for _, n := range f.Notices {
		types = append(types, n.BusinessType)
	}
	require.Equal(t, []string{"a", "b", "c"}, types)
	require.Len(t, f.MoreNotices, 3, "d, and two of a")
}

// Who may see some types sees nothing of the others.
func TestAPictureForSomeEyes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)
	p := grim(now)
	p.Counts = map[string]*calls.Counts{"refund": {}, "order": {}}
	p.Failed, p.Open, p.Overdue = map[string]*watch.Sample{"order": {}, "refund": {}}, map[string]*watch.Sample{"order": {}}, map[string]*watch.Sample{"order": {}}
	seen := p.SeenBy(&auth.Principal{Grants: []auth.Grant{{Role: auth.Viewer, Types: []string{"refund"}}}})
	require.Len(t, seen.Paused, 2, "what is paused with everything is")
	require.Equal(t, map[string]*calls.Counts{"refund": {}}, seen.Counts)
	require.Equal(t, map[string]*watch.Sample{"refund": {}}, seen.Failed)
	require.Empty(t, seen.Policies)
	require.Empty(t, seen.Open)
	require.Empty(t, seen.Overdue)
	require.Empty(t, seen.Ahead)
	require.Len(t, p.Policies, 3, "the picture stays as it is for the others")
}

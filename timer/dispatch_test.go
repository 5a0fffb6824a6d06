package timer_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestDispatchCheck(t *testing.T) {
	t.Parallel()
	fine := timer.Dispatch{Key: timer.Key{BusinessType: "mass", BusinessID: "d"}, PerSecond: 8000}
	past, later := timer.At(noon.Add(-time.Hour)), timer.At(noon.Add(time.Hour))
	loader := func(change func(*timer.DispatchLoader)) func(*timer.Dispatch) {
		return func(d *timer.Dispatch) {
			d.Loader = &timer.DispatchLoader{URL: "https://h/items", Shards: 100, PageSize: 1000}
			if change != nil {
				change(d.Loader)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(d *timer.Dispatch)
		want   []string
	}{
		"in order":           {func(*timer.Dispatch) {}, nil},
		"zero":               {func(d *timer.Dispatch) { d.PerSecond = 0 }, []string{"/per_second"}},
		"negative":           {func(d *timer.Dispatch) { d.PerSecond = -1 }, []string{"/per_second"}},
		"not a number":       {func(d *timer.Dispatch) { d.PerSecond = math.NaN() }, []string{"/per_second"}},
		"infinite":           {func(d *timer.Dispatch) { d.PerSecond = math.Inf(1) }, []string{"/per_second"}},
		"too fast":           {func(d *timer.Dispatch) { d.PerSecond = 10_001 }, []string{"/per_second"}},
		"a fraction":         {func(d *timer.Dispatch) { d.PerSecond = 0.001 }, nil},
		"no such id":         {func(d *timer.Dispatch) { d.BusinessID = "a b" }, []string{"/business_id"}},
		"two due times":      {func(d *timer.Dispatch) { d.DueAt, d.Delay = &later, ptr(timer.Duration(1)) }, []string{"/delay"}},
		"late already":       {func(d *timer.Dispatch) { d.LatestAt = &past }, []string{"/latest_at"}},
		"late before due":    {func(d *timer.Dispatch) { d.DueAt, d.LatestAt = &later, &later }, []string{"/latest_at"}},
		"a long warm-up":     {func(d *timer.Dispatch) { d.WarmUp = timer.Duration(2 * time.Hour) }, []string{"/warm_up"}},
		"a negative warm-up": {func(d *timer.Dispatch) { d.WarmUp = -1 }, []string{"/warm_up"}},
		"pages":              {func(d *timer.Dispatch) { d.Per, d.PageSize = timer.PerPage, 1000 }, nil},
		"too large pages":    {func(d *timer.Dispatch) { d.Per, d.PageSize = timer.PerPage, 1001 }, []string{"/page_size"}},
		"a size of no page":  {func(d *timer.Dispatch) { d.PageSize = 10 }, []string{"/page_size"}},
		"per what":           {func(d *timer.Dispatch) { d.Per = "shard" }, []string{"/callback_per"}},
		"pages to a broker": {func(d *timer.Dispatch) {
			d.Per, d.Callback = timer.PerPage, &timer.Callback{Destination: timer.Destination{Broker: "main"}}
		}, []string{"/callback_per"}},
		"a loader":            {loader(nil), nil},
		"a loader of nothing": {loader(func(l *timer.DispatchLoader) { l.URL = "" }), []string{"/loader/url"}},
		"a loader elsewhere":  {loader(func(l *timer.DispatchLoader) { l.URL = "ftp://h/" }), []string{"/loader/url"}},
		"too many shards":     {loader(func(l *timer.DispatchLoader) { l.Shards = 101 }), []string{"/loader/shards"}},
		"negative shards":     {loader(func(l *timer.DispatchLoader) { l.Shards = -1 }), []string{"/loader/shards"}},
		"a loader's pages":    {loader(func(l *timer.DispatchLoader) { l.PageSize = 1001 }), []string{"/loader/page_size"}},
		"a loader's patience": {loader(func(l *timer.DispatchLoader) { l.Timeout = timer.Duration(time.Hour) }), []string{"/loader/timeout"}},
	} {
		order := fine
		c.change(&order)
		var pointers []string
		for _, wrong := range order.Check(noon) {
			pointers = append(pointers, wrong.Pointer)
		}
		require.Equal(t, c.want, pointers, name)
	}
	require.NotEmpty(t, timer.DispatchChange{PerSecond: ptr(0.0)}.Check())
	require.Empty(t, timer.DispatchChange{PerSecond: ptr(0.5), Paused: ptr(true)}.Check())
	require.NotEmpty(t, timer.DispatchFields())
	full := timer.Dispatch{Per: timer.PerPage, Loader: &timer.DispatchLoader{}}.WithDefaults()
	require.Equal(t, []int{100, 1, 100}, []int{full.PageSize, full.Loader.Shards, full.Loader.PageSize})
	require.Equal(t, timer.PerItem, timer.Dispatch{}.WithDefaults().Per)
	require.NotEqual(t, fine.Fingerprint(), full.Fingerprint())
	require.Contains(t, timer.DispatchPers(), timer.PerPage)
}

func TestDispatchItemsCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		items []timer.DispatchItem
		want  []string
	}{
		"none":      {nil, []string{"/items"}},
		"in order":  {[]timer.DispatchItem{{ID: "a", Payload: json.RawMessage("1")}, {ID: "b"}}, nil},
		"twice":     {[]timer.DispatchItem{{ID: "a"}, {ID: "b"}, {ID: "a"}}, []string{"/items/2/id"}},
		"no id":     {[]timer.DispatchItem{{}}, []string{"/items/0/id"}},
		"too large": {[]timer.DispatchItem{{ID: "a", Payload: make([]byte, 64<<10+1)}}, []string{"/items/0/payload"}},
		"large":     {[]timer.DispatchItem{{ID: "a", Payload: make([]byte, 64<<10)}}, nil},
		"too many":  {many(1001, 1), []string{"/items"}},
		"too much":  {many(1000, 1100), []string{"/items"}},
	} {
		var pointers []string
		for _, wrong := range timer.CheckDispatchItems(c.items) {
			pointers = append(pointers, wrong.Pointer)
		}
		require.Equal(t, c.want, pointers, name)
	}
}

func many(n, bytes int) (items []timer.DispatchItem) {
	for i := range n {
		items = append(items, timer.DispatchItem{ID: fmt.Sprint("i-", i), Payload: make([]byte, bytes)})
	}
	return items
}

// However many shards there are, and whatever the rate, the moments of all of them
// together are even; and From finds each.
func TestMomentsAreEven(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.01, 1, 333, 10_000} {
		for _, shards := range []int{1, 3, 8} {
			var all []time.Time
			for shard := range shards {
				pace := timer.Pace{Began: noon, PerSecond: rate, Shard: shard, Shards: shards}
				for k := range int64(50) {
					at := pace.Moment(k)
					all = append(all, at)
					require.Equal(t, k, pace.From(at))
					require.Equal(t, k+1, pace.From(at.Add(time.Microsecond)))
				}
				require.Zero(t, pace.From(noon.Add(-time.Hour)))
			}
			slices.SortFunc(all, time.Time.Compare)
			for n, at := range all {
				require.InDelta(t, float64(n)/rate, at.Sub(noon).Seconds(), 1e-6)
			}
		}
	}
}

// The rate rises evenly over the warm-up: half of the items of as long at the whole rate.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	pace := timer.Pace{Began: noon, WarmUp: 10 * time.Second, PerSecond: 100, Shard: 2, Shards: 3}
	counts := map[int]int{}
	for k := range int64(1000) {
		at := pace.Moment(k)
		require.Equal(t, k, pace.From(at))
		counts[int(at.Sub(noon)/time.Second)] += 3
	}
	for second := range 10 {
		require.InDelta(t, 10*second+5, counts[second], 3, "second %d", second)
	}
	require.InDelta(t, 100, counts[15], 3)
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		at := noon.Add(time.Duration(random.Int64N(int64(20 * time.Second))))
		k := pace.From(at)
		require.False(t, pace.Moment(k).Before(at))
		require.True(t, k == 0 || pace.Moment(k-1).Before(at), "it is the first")
	}
}

func TestDispatchRate(t *testing.T) {
	t.Parallel()
	until := timer.At(noon)
	for name, c := range map[string]struct {
		policy timer.Policy
		want   float64
	}{
		"no limit":          {timer.Policy{}, 100},
		"a limit":           {limited(30, claimed("d", 100, 0)), 27},
		"a larger one":      {limited(300, claimed("d", 100, 0)), 100},
		"not claimed yet":   {limited(300, claimed("other", 100, 0)), 0},
		"two dispatches":    {limited(200, claimed("d", 100, -time.Minute), claimed("other", 300, 0)), 45},
		"not heard of yet":  {limited(200, claimed("d", 100, -time.Second), claimed("other", 300, 0)), 0},
		"paused":            {timer.Policy{Paused: true}, 0},
		"held back":         {timer.Policy{BackPressure: &timer.BackPressure{Until: until.Add(time.Second)}}, 0},
		"just not any more": {timer.Policy{BackPressure: &timer.BackPressure{Until: until.Add(-time.Second)}}, 10},
		"not for long":      {timer.Policy{BackPressure: &timer.BackPressure{Until: until.Add(-5 * time.Second)}}, 40},
		"long not":          {timer.Policy{BackPressure: &timer.BackPressure{Until: until.Add(-time.Minute)}}, 100},
	} {
		require.InDelta(t, c.want, c.policy.DispatchRate("d", 100, noon), 0.001, name)
	}
}

// A cursor that comes again is found, however long the way to it.
func TestCycle(t *testing.T) {
	t.Parallel()
	for _, tail := range []int{0, 3, 40} {
		for _, length := range []int{1, 2, 9, 100} {
			var c timer.DispatchCycle
			found := 0
			for n := 0; n < 1000; n++ {
				value := n
				if n >= tail {
					value = tail + (n-tail)%length
				}
				if c.Repeats(fmt.Sprint(value)) {
					found = n
					break
				}
			}
			require.Positive(t, found)
			require.LessOrEqual(t, found, 4*(tail+length)+2)
		}
	}
	var c timer.DispatchCycle
	for n := range 10_000 {
		require.False(t, c.Repeats(fmt.Sprint(n)), "what never comes again is not one")
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	place, ok := timer.DispatchPlan{Active: []int{3, 5, 9}}.Of(5)
	require.True(t, ok)
	require.Equal(t, 1, place)
	_, ok = timer.DispatchPlan{Active: []int{3}}.Of(5)
	require.False(t, ok)
}

// A stored page is read back byte for byte.
func FuzzDispatchPage(f *testing.F) {
	f.Add([]byte(`{"a": 1}`), "x", 2)
	f.Fuzz(func(t *testing.T, payload []byte, id string, attempts int) {
		page := timer.DispatchPage{Due: 7, Items: []timer.DispatchItem{
			{ID: strings.ToValidUTF8(id, ""), Payload: payload, Attempts: attempts}, {ID: "b", Failure: &timer.Failure{Status: 500, Message: "HTTP 500"}},
		}}
		if len(payload) == 0 {
			page.Items[0].Payload = nil
		}
		read, err := timer.DecodeDispatchPage(page.Encode())
		require.NoError(t, err)
		require.Equal(t, page, read)
		_, _ = timer.DecodeDispatchPage(payload) // whatever it holds, it ends
	})
}

func TestAPageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	whole := timer.DispatchPage{Items: many(3, 20)}.Encode()
	for cut := range len(whole) {
		_, err := timer.DecodeDispatchPage(whole[:cut])
		require.Error(t, err, "%d bytes of %d", cut, len(whole))
	}
	for _, text := range []string{"{\"items\":-1}\n", "{\"items\":9999999}\n", "{\"items\":1}\n{\"id\":\"a\",\"bytes\":-5}\n\n"} {
		_, err := timer.DecodeDispatchPage([]byte(text))
		require.Error(t, err)
	}
}

// What a reader is shown follows from the memo and the shards.
func TestDispatchView(t *testing.T) {
	t.Parallel()
	began := timer.At(noon)
	hundred := 100
	memo := timer.DispatchMemo{
		Order: timer.Dispatch{Key: timer.Key{BusinessType: "m", BusinessID: "d"}, LatestAt: ptr(began.Add(time.Hour))}, Status: timer.DispatchRunning,
		StartedAt: began, Plan: timer.DispatchPlan{PerSecond: 8, Began: began}, Items: &hundred, Before: timer.DispatchCounts{Done: 5},
	}
	at := noon.Add(4 * time.Second).Unix()
	shards := []timer.DispatchShardState{
		{Shard: 0, Begun: true, State: timer.DispatchState{DispatchCounts: timer.DispatchCounts{Done: 20, InFlight: 2}, Sent: timer.DispatchRecent{At: at, Seconds: []int{5, 5, 6, 1}}}},
		{Shard: 1, Begun: true, State: timer.DispatchState{DispatchCounts: timer.DispatchCounts{Done: 10, Failed: 2, Retrying: 3}, Sent: timer.DispatchRecent{At: at - 1, Seconds: []int{4, 4, 2}}}},
		{Shard: 2, Begun: true, Ended: true, State: timer.DispatchState{DispatchCounts: timer.DispatchCounts{Done: 3, InFlight: 9}}},
		{Shard: 3, Begun: true, State: timer.DispatchState{Problem: &timer.Failure{Message: "x"}}},
		{Shard: 4},
	}
	view := memo.View().Count(memo, shards, timer.Holds{}, noon.Add(4*time.Second))
	require.Equal(t, []int{38, 2, 3, 2, 60}, []int{view.Done, view.Failed, view.Retrying, view.InFlight, *view.Rest})
	require.InDelta(t, 9, view.Achieved.LastSecond, 0.01, "the last second of which both have told")
	require.InDelta(t, 1.8, view.Achieved.Last10Seconds, 0.01)
	require.InDelta(t, 35.0/4, view.Achieved.Whole, 0.01)
	require.Equal(t, timer.At(noon.Add(4*time.Second)).Add(7500*time.Millisecond), view.EstimatedEnd)
	var statuses []string
	for _, shard := range view.Shards {
		statuses = append(statuses, shard.Status)
	}
	require.Equal(t, []string{"running", "running", "done", "stopped", "waiting"}, statuses)

	require.Empty(t, view.WaitsFor)
	emergency := timer.Holds{Emergency: &timer.Emergency{Everything: true, Author: "ana", Note: "fire", Since: began}}
	view = memo.View().Count(memo, shards, emergency, noon)
	require.Equal(t, timer.Wait{WaitsFor: timer.WaitsForEmergency, WaitsSince: began, WaitsBy: "ana", WaitsNote: "fire"}, view.Wait)
	require.Zero(t, view.Effective)

	memo.Status = timer.DispatchPaused
	view = memo.View().Count(memo, shards, emergency, noon)
	require.Zero(t, view.Effective)
	require.Empty(t, view.Wait, "its own pause is its status")

	memo.Status, memo.Items, memo.FinishedAt = timer.DispatchDone, nil, began.Add(10*time.Second)
	memo.Total = &timer.DispatchCounts{Found: 55, Done: 50, Failed: 5}
	view = memo.View()
	require.Equal(t, timer.DispatchDoneWithFailures, view.Status)
	require.Equal(t, []int{55, 50, 5, 0}, []int{*view.Items, view.Done, view.Failed, *view.Rest})
	require.InDelta(t, 5, view.Achieved.Whole, 0.01)

	memo.Stopped = []timer.DispatchShardView{shards[3].View()}
	require.Equal(t, memo.Stopped, memo.View().Shards, "which shard was stopped, and why, is seen when it has ended")
	require.Equal(t, timer.ShardStopped, memo.Stopped[0].Status)

	again := memo.Again(began.Add(2 * time.Hour))
	require.Equal(t, memo.Stopped, again.Stopped, "that stays so")
	require.Empty(t, again.View().Shards)
	require.Equal(t, 1, again.Round)
	require.Equal(t, timer.DispatchCounts{Found: 50, Done: 50}, again.Before)
	require.Nil(t, again.Order.LatestAt, "it has passed")
	require.Equal(t, timer.DispatchScheduled, again.Status)

	require.Equal(t, timer.MaxDispatchLife, memo.Life(noon))
	memo.Order.Recurrence = &timer.Recurrence{}
	require.Equal(t, timer.MaxAhead, memo.Life(noon))
	finished := 0
	for _, status := range timer.DispatchStatuses() {
		if status.Finished() {
			finished++
		}
	}
	require.Equal(t, 5, finished)
}

package dispatch_test

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

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

func TestDispatchCheck(t *testing.T) {
	t.Parallel()
	fine := dispatch.Dispatch{Key: wire.Key{BusinessType: "mass", BusinessID: "d"}, PerSecond: 8000}
	past, later := wire.At(noon.Add(-time.Hour)), wire.At(noon.Add(time.Hour))
	loader := func(change func(*dispatch.Loader)) func(*dispatch.Dispatch) {
		return func(d *dispatch.Dispatch) {
			d.Loader = &dispatch.Loader{URL: "https://h/items", Shards: 100, PageSize: 1000}
			if change != nil {
				change(d.Loader)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(d *dispatch.Dispatch)
		want   []string
	}{
		"in order":           {func(*dispatch.Dispatch) {}, nil},
		"zero":               {func(d *dispatch.Dispatch) { d.PerSecond = 0 }, []string{"/per_second"}},
		"negative":           {func(d *dispatch.Dispatch) { d.PerSecond = -1 }, []string{"/per_second"}},
		"not a number":       {func(d *dispatch.Dispatch) { d.PerSecond = math.NaN() }, []string{"/per_second"}},
		"infinite":           {func(d *dispatch.Dispatch) { d.PerSecond = math.Inf(1) }, []string{"/per_second"}},
		"too fast":           {func(d *dispatch.Dispatch) { d.PerSecond = 10_001 }, []string{"/per_second"}},
		"a fraction":         {func(d *dispatch.Dispatch) { d.PerSecond = 0.001 }, nil},
		"no such id":         {func(d *dispatch.Dispatch) { d.BusinessID = "a b" }, []string{"/business_id"}},
		"two due times":      {func(d *dispatch.Dispatch) { d.DueAt, d.Delay = &later, ptr(wire.Duration(1)) }, []string{"/delay"}},
		"late already":       {func(d *dispatch.Dispatch) { d.LatestAt = &past }, []string{"/latest_at"}},
		"late before due":    {func(d *dispatch.Dispatch) { d.DueAt, d.LatestAt = &later, &later }, []string{"/latest_at"}},
		"a long warm-up":     {func(d *dispatch.Dispatch) { d.WarmUp = wire.Duration(2 * time.Hour) }, []string{"/warm_up"}},
		"a negative warm-up": {func(d *dispatch.Dispatch) { d.WarmUp = -1 }, []string{"/warm_up"}},
		"pages":              {func(d *dispatch.Dispatch) { d.Per, d.PageSize = dispatch.PerPage, 1000 }, nil},
		"too large pages":    {func(d *dispatch.Dispatch) { d.Per, d.PageSize = dispatch.PerPage, 1001 }, []string{"/page_size"}},
		"a size of no page":  {func(d *dispatch.Dispatch) { d.PageSize = 10 }, []string{"/page_size"}},
		"per what":           {func(d *dispatch.Dispatch) { d.Per = "shard" }, []string{"/callback_per"}},
		"pages to a broker": {func(d *dispatch.Dispatch) {
			d.Per, d.Callback = dispatch.PerPage, &delivery.Callback{Destination: delivery.Destination{Broker: "main"}}
		}, []string{"/callback_per"}},
		"a loader":            {loader(nil), nil},
		"a loader of nothing": {loader(func(l *dispatch.Loader) { l.URL = "" }), []string{"/loader/url"}},
		"a loader elsewhere":  {loader(func(l *dispatch.Loader) { l.URL = "ftp://h/" }), []string{"/loader/url"}},
		"too many shards":     {loader(func(l *dispatch.Loader) { l.Shards = 101 }), []string{"/loader/shards"}},
		"negative shards":     {loader(func(l *dispatch.Loader) { l.Shards = -1 }), []string{"/loader/shards"}},
		"a loader's pages":    {loader(func(l *dispatch.Loader) { l.PageSize = 1001 }), []string{"/loader/page_size"}},
		"a loader's patience": {loader(func(l *dispatch.Loader) { l.Timeout = wire.Duration(time.Hour) }), []string{"/loader/timeout"}},
	} {
		order := fine
		c.change(&order)
		var pointers []string
		for _, wrong := range order.Check(noon) {
			pointers = append(pointers, wrong.Pointer)
		}
		require.Equal(t, c.want, pointers, name)
	}
	require.NotEmpty(t, dispatch.Change{PerSecond: ptr(0.0)}.Check())
	require.Empty(t, dispatch.Change{PerSecond: ptr(0.5), Paused: ptr(true)}.Check())
	require.NotEmpty(t, dispatch.Fields())
	full := dispatch.Dispatch{Per: dispatch.PerPage, Loader: &dispatch.Loader{}}.WithDefaults()
	require.Equal(t, []int{100, 1, 100}, []int{full.PageSize, full.Loader.Shards, full.Loader.PageSize})
	require.Equal(t, dispatch.PerItem, dispatch.Dispatch{}.WithDefaults().Per)
	require.NotEqual(t, fine.Fingerprint(), full.Fingerprint())
	require.Contains(t, dispatch.Pers(), dispatch.PerPage)
}

func TestDispatchItemsCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		items []dispatch.Item
		want  []string
	}{
		"none":      {nil, []string{"/items"}},
		"in order":  {[]dispatch.Item{{ID: "a", Payload: json.RawMessage("1")}, {ID: "b"}}, nil},
		"twice":     {[]dispatch.Item{{ID: "a"}, {ID: "b"}, {ID: "a"}}, []string{"/items/2/id"}},
		"no id":     {[]dispatch.Item{{}}, []string{"/items/0/id"}},
		"too large": {[]dispatch.Item{{ID: "a", Payload: make([]byte, 64<<10+1)}}, []string{"/items/0/payload"}},
		"large":     {[]dispatch.Item{{ID: "a", Payload: make([]byte, 64<<10)}}, nil},
		"too many":  {many(1001, 1), []string{"/items"}},
		"too much":  {many(1000, 1100), []string{"/items"}},
	} {
		var pointers []string
		for _, wrong := range dispatch.CheckItems(c.items) {
			pointers = append(pointers, wrong.Pointer)
		}
		require.Equal(t, c.want, pointers, name)
	}
}

func many(n, bytes int) (items []dispatch.Item) {
	for i := range n {
		items = append(items, dispatch.Item{ID: fmt.Sprint("i-", i), Payload: make([]byte, bytes)})
	}
	return items
}

// For any number of shards and any rate, all moments together are even, and From finds each.
func TestMomentsAreEven(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.01, 1, 333, 10_000} {
		for _, shards := range []int{1, 3, 8} {
			var all []time.Time
			for shard := range shards {
				pace := dispatch.Pace{Began: noon, PerSecond: rate, Shard: shard, Shards: shards}
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

// The rate rises evenly over the warm-up, which sends half the items of the full rate.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	pace := dispatch.Pace{Began: noon, WarmUp: 10 * time.Second, PerSecond: 100, Shard: 2, Shards: 3}
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
	until := wire.At(noon)
	for name, c := range map[string]struct {
		policy policy.Policy
		want   float64
	}{
		"no limit":          {policy.Policy{}, 100},
		"a limit":           {limited(30, claimed("d", 100, 0)), 27},
		"a larger one":      {limited(300, claimed("d", 100, 0)), 100},
		"not claimed yet":   {limited(300, claimed("other", 100, 0)), 0},
		"two dispatches":    {limited(200, claimed("d", 100, -time.Minute), claimed("other", 300, 0)), 45},
		"not heard of yet":  {limited(200, claimed("d", 100, -time.Second), claimed("other", 300, 0)), 0},
		"paused":            {policy.Policy{Paused: true}, 0},
		"held back":         {policy.Policy{BackPressure: &policy.BackPressure{Until: until.Add(time.Second)}}, 0},
		"just not any more": {policy.Policy{BackPressure: &policy.BackPressure{Until: until.Add(-time.Second)}}, 10},
		"not for long":      {policy.Policy{BackPressure: &policy.BackPressure{Until: until.Add(-5 * time.Second)}}, 40},
		"long not":          {policy.Policy{BackPressure: &policy.BackPressure{Until: until.Add(-time.Minute)}}, 100},
	} {
		require.InDelta(t, c.want, c.policy.DispatchRate("d", 100, noon), 0.001, name)
	}
}

// A repeated cursor is found, after any number of others.
func TestCycle(t *testing.T) {
	t.Parallel()
	for _, tail := range []int{0, 3, 40} {
		for _, length := range []int{1, 2, 9, 100} {
			var c dispatch.Cycle
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
	var c dispatch.Cycle
	for n := range 10_000 {
		require.False(t, c.Repeats(fmt.Sprint(n)), "what never comes again is not one")
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	place, ok := dispatch.Plan{Active: []int{3, 5, 9}}.PlaceOf(5)
	require.True(t, ok)
	require.Equal(t, 1, place)
	_, ok = dispatch.Plan{Active: []int{3}}.PlaceOf(5)
	require.False(t, ok)
}

// A stored page is read back byte for byte.
func FuzzDispatchPage(f *testing.F) {
	f.Add([]byte(`{"a": 1}`), "x", 2)
	f.Fuzz(func(t *testing.T, payload []byte, id string, attempts int) {
		page := dispatch.Page{Due: 7, Items: []dispatch.Item{
			{ID: strings.ToValidUTF8(id, ""), Payload: payload, Attempts: attempts}, {ID: "b", Failure: &delivery.Failure{Status: 500, Message: "HTTP 500"}},
		}}
		if len(payload) == 0 {
			page.Items[0].Payload = nil
		}
		read, err := dispatch.DecodePage(page.Encode())
		require.NoError(t, err)
		require.Equal(t, page, read)
		_, _ = dispatch.DecodePage(payload) // it ends for any input
	})
}

func TestAPageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	whole := dispatch.Page{Items: many(3, 20)}.Encode()
	for cut := range len(whole) {
		_, err := dispatch.DecodePage(whole[:cut])
		require.Error(t, err, "%d bytes of %d", cut, len(whole))
	}
	for _, text := range []string{"{\"items\":-1}\n", "{\"items\":9999999}\n", "{\"items\":1}\n{\"id\":\"a\",\"bytes\":-5}\n\n"} {
		_, err := dispatch.DecodePage([]byte(text))
		require.Error(t, err)
	}
}

// The view follows from the memo and the shards.
func TestDispatchView(t *testing.T) {
	t.Parallel()
	began := wire.At(noon)
	hundred := 100
	memo := dispatch.Memo{
		Order: dispatch.Dispatch{Key: wire.Key{BusinessType: "m", BusinessID: "d"}, LatestAt: ptr(began.Add(time.Hour))}, Status: dispatch.Running,
		StartedAt: began, Plan: dispatch.Plan{PerSecond: 8, Began: began}, Items: &hundred, Before: dispatch.Counts{Done: 5},
	}
	at := noon.Add(4 * time.Second).Unix()
	shards := []dispatch.ShardState{
		{Shard: 0, Begun: true, State: dispatch.State{Counts: dispatch.Counts{Done: 20, InFlight: 2}, Sent: dispatch.Recent{At: at, Seconds: []int{5, 5, 6, 1}}}},
		{Shard: 1, Begun: true, State: dispatch.State{Counts: dispatch.Counts{Done: 10, Failed: 2, Retrying: 3}, Sent: dispatch.Recent{At: at - 1, Seconds: []int{4, 4, 2}}}},
		{Shard: 2, Begun: true, Ended: true, State: dispatch.State{Counts: dispatch.Counts{Done: 3, InFlight: 9}}},
		{Shard: 3, Begun: true, State: dispatch.State{Problem: &delivery.Failure{Message: "x"}}},
		{Shard: 4},
	}
	view := memo.View().Count(memo, shards, policy.Holds{}, noon.Add(4*time.Second))
	require.Equal(t, []int{38, 2, 3, 2, 60}, []int{view.Done, view.Failed, view.Retrying, view.InFlight, *view.Rest})
	require.InDelta(t, 9, view.Achieved.LastSecond, 0.01, "the last second of which both have told")
	require.InDelta(t, 1.8, view.Achieved.Last10Seconds, 0.01)
	require.InDelta(t, 35.0/4, view.Achieved.Whole, 0.01)
	require.Equal(t, wire.At(noon.Add(4*time.Second)).Add(7500*time.Millisecond), view.EstimatedEnd)
	var statuses []string
	for _, shard := range view.Shards {
		statuses = append(statuses, shard.Status)
	}
	require.Equal(t, []string{"running", "running", "done", "stopped", "waiting"}, statuses)

	require.Empty(t, view.WaitsFor)
	emergency := policy.Holds{Emergency: &policy.Emergency{Everything: true, Author: "ana", Note: "fire", Since: began}}
	view = memo.View().Count(memo, shards, emergency, noon)
	require.Equal(t, delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: began, WaitsBy: "ana", WaitsNote: "fire"}, view.Wait)
	require.Zero(t, view.Effective)

	memo.Status = dispatch.Paused
	view = memo.View().Count(memo, shards, emergency, noon)
	require.Zero(t, view.Effective)
	require.Empty(t, view.Wait, "its own pause is its status")

	memo.Status, memo.Items, memo.FinishedAt = dispatch.Done, nil, began.Add(10*time.Second)
	memo.Total = &dispatch.Counts{Found: 55, Done: 50, Failed: 5}
	view = memo.View()
	require.Equal(t, dispatch.DoneWithFailures, view.Status)
	require.Equal(t, []int{55, 50, 5, 0}, []int{*view.Items, view.Done, view.Failed, *view.Rest})
	require.InDelta(t, 5, view.Achieved.Whole, 0.01)

	memo.Stopped = []dispatch.ShardView{shards[3].View()}
	require.Equal(t, memo.Stopped, memo.View().Shards, "which shard was stopped, and why, is seen when it has ended")
	require.Equal(t, dispatch.ShardStopped, memo.Stopped[0].Status)

	again := memo.RetryFailed(began.Add(2 * time.Hour))
	require.Equal(t, memo.Stopped, again.Stopped, "that stays so")
	require.Empty(t, again.View().Shards)
	require.Equal(t, 1, again.Round)
	require.Equal(t, dispatch.Counts{Found: 50, Done: 50}, again.Before)
	require.Nil(t, again.Order.LatestAt, "it has passed")
	require.Equal(t, dispatch.Scheduled, again.Status)

	require.Equal(t, dispatch.MaxLife, memo.Life(noon))
	memo.Order.Recurrence = &recurrence.Rule{}
	require.Equal(t, wire.MaxAhead, memo.Life(noon))
	finished := 0
	for _, status := range dispatch.Statuses() {
		if status.Finished() {
			finished++
		}
	}
	require.Equal(t, 5, finished)
}

package dispatches

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/engine/dispatches"
	"github.com/wakecall/wakecall/workflows"
)

const wait = 5 * time.Second

func dispatchItems(n int) (all []dispatch.Item) {
	for i := range n {
		all = append(all, dispatch.Item{ID: fmt.Sprint("n-", i), Payload: fmt.Appendf(nil, `{"n": %d}`, i)})
	}
	return all
}

func mass(businessType, id string, perSecond float64) dispatch.Dispatch {
	return dispatch.Dispatch{Key: wire.Key{BusinessType: businessType, BusinessID: id}, PerSecond: perSecond}
}

// awaitDispatch returns a dispatch once it is as it should be.
func awaitDispatch(t *testing.T, env *testenv.Env, key wire.Key, as func(dispatch.View) bool) (view dispatch.View) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		view, err = env.Engine.Dispatches.Get(t.Context(), key)
		require.NoError(c, err)
		require.True(c, as(view), "%+v", view)
	}, testenv.Patience, 50*time.Millisecond)
	return view
}

func in(status dispatch.Status) func(dispatch.View) bool {
	return func(view dispatch.View) bool { return view.Status == status }
}

// Every item of an order is called back once, with its payload as it was given, and that
// costs Temporal less than a twentieth of a transition for each.
func TestADispatchOfItemsBroughtAlong(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-inline", testenv.JSON{"callback": testenv.JSON{"url": r.On("/inline", receiver.Status(200))}})
	order := mass("d-inline", "a", 1000)
	_, created, err := env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
	require.NoError(t, err)
	require.True(t, created)
	view := awaitDispatch(t, env, order.Key, in(dispatch.Done))
	require.Equal(t, []int{1000, 0, 0, 1000}, []int{view.Done, view.Failed, *view.Rest, *view.Items})
	calls, ids := r.To("/inline"), map[string]bool{}
	require.Len(t, calls, 1000)
	for _, call := range calls {
		ids[call.Header.Get("webhook-id")] = true
		n := strings.TrimPrefix(call.ID(), "n-")
		require.Equal(t, `{"n": `+n+`}`, string(call.Body), "byte for byte")
	}
	require.Len(t, ids, 1000, "each item has an id of its own")

	transitions := int64(2) // the page: stored, and deleted
	for _, id := range []string{workflows.DispatchWorkflowID(order.Key), workflows.DispatchShardID(view.Memo.ID(), 0, 0)} {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		transitions += described.GetWorkflowExecutionInfo().GetStateTransitionCount() * int64(max(view.Memo.Shards*btoi(strings.Contains(id, "shard")), 1))
	}
	t.Logf("%d transitions for %d items", transitions, len(calls))
	require.Less(t, transitions, int64(1000/5), "of an order of a second, whose beginning and end are most of it")
	require.Eventually(t, func() bool {
		_, err := env.Engine.Dispatches.ReadPage(t.Context(), workflows.DispatchUploadPrefix(order.Key)+"0")
		return wire.CodeOf(err) == wire.NotFound
	}, testenv.Patience, 50*time.Millisecond, "nothing is left behind")

	_, _, err = env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(999))
	require.Equal(t, wire.AlreadyExists, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Change(t.Context(), order.Key, dispatch.Change{}, wait)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Cancel(t.Context(), order.Key, wait)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.RetryFailures(t.Context(), order.Key)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err), "none failed")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What is refused starts nothing.
func TestDispatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	env := testenv.Open(t, testenv.Addr)
	d := env.Engine.Dispatches
	_, _, err := d.Add(t.Context(), mass("d-nobody", "a", 5), dispatchItems(1))
	require.Equal(t, wire.UnknownBusinessType, wire.CodeOf(err))
	own := mass("d-nobody", "b", 5)
	own.Callback = &delivery.Callback{Destination: delivery.HTTP("http://10.0.0.1/")}
	_, _, err = d.Add(t.Context(), own, dispatchItems(1))
	require.ErrorContains(t, err, "/callback/url")
	loader := mass("d-nobody", "c", 5)
	loader.Loader = &dispatch.Loader{URL: "http://10.0.0.1/"}
	_, _, err = d.Add(t.Context(), loader, nil)
	require.ErrorContains(t, err, "/loader/url")
	_, _, err = d.Add(t.Context(), loader, dispatchItems(1))
	require.ErrorContains(t, err, "/items")
	_, _, err = d.Open(t.Context(), loader)
	require.ErrorContains(t, err, "/loader")
	for _, id := range []string{"a", "b", "c", "a b"} {
		_, err = d.Get(t.Context(), wire.Key{BusinessType: "d-nobody", BusinessID: id})
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
	}
}

// An upload that breaks off starts nothing, and goes on behind what was stored.
func TestAnUploadIsResumed(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-upload", testenv.JSON{"callback": testenv.JSON{"url": r.On("/upload", receiver.Status(200))}})
	d, order, all := env.Engine.Dispatches, mass("d-upload", "a", 4000), dispatchItems(3300)
	view, created, err := d.Open(t.Context(), order)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, dispatch.Uploading, view.Status)
	_, created, err = d.Open(t.Context(), order)
	require.NoError(t, err)
	require.False(t, created, "it may be repeated")
	for range 2 { // an earlier try that came further is of no account
		upload, err := d.Upload(t.Context(), order.Key, 0)
		require.NoError(t, err)
		for _, item := range all[:2500] {
			require.NoError(t, upload.Append(t.Context(), item))
		}
		require.Equal(t, 2000, upload.Uploaded())
		require.Error(t, upload.Append(t.Context(), dispatch.Item{ID: "a b"}))
	}
	view, err = d.Get(t.Context(), order.Key)
	require.NoError(t, err)
	require.Equal(t, 2000, view.Uploaded)
	require.Empty(t, r.All(), "nothing starts")
	_, err = d.Upload(t.Context(), order.Key, 2500)
	require.ErrorContains(t, err, "from")
	upload, err := d.Upload(t.Context(), order.Key, 2000)
	require.NoError(t, err)
	for _, item := range all[2000:] {
		require.NoError(t, upload.Append(t.Context(), item))
	}
	view, err = upload.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3300, *view.Items)
	_, err = d.Upload(t.Context(), order.Key, 0)
	require.Equal(t, wire.Overtaken, wire.CodeOf(err))
	awaitDispatch(t, env, order.Key, in(dispatch.Done))
	counts := map[string]int{}
	for _, call := range r.To("/upload") {
		counts[call.ID()]++
	}
	require.Len(t, counts, 3300)
	require.Len(t, r.To("/upload"), 3300)
}

// A change that a dispatch took, and that ended before it went by it, is told as what it is.
func TestADispatchEndsBeforeItsChange(t *testing.T) {
	t.Parallel()
	key := wire.Key{BusinessType: "d-late", BusinessID: "a"}
	var env *testenv.Env
	env = testenv.OpenThrough(t, testenv.Addr, testenv.Settings(), func(
		ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		err := invoke(ctx, method, request, reply, conn, options...)
		if signal, ok := request.(*workflowservice.SignalWorkflowExecutionRequest); ok && signal.GetSignalName() == workflows.SignalChange {
			err = errors.Join(err, env.Client.TerminateWorkflow(ctx, workflows.DispatchWorkflowID(key), "", "by an operator"))
		}
		return err
	})
	env.Policy(key.BusinessType, testenv.JSON{"callback": testenv.JSON{"url": receiver.New(t).URL}})
	_, _, err := env.Engine.Dispatches.Open(t.Context(), mass(key.BusinessType, key.BusinessID, 5))
	require.NoError(t, err)
	_, _, err = env.Engine.Dispatches.Pause(t.Context(), key, testenv.Patience)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
}

// uploading is an upload that has stored so many items, and holds the next one.
func uploading(t *testing.T, d *dispatches.Dispatches, key wire.Key, items []dispatch.Item) *dispatches.Upload {
	t.Helper()
	upload, err := d.Upload(t.Context(), key, 0)
	require.NoError(t, err)
	for _, item := range items {
		require.NoError(t, upload.Append(t.Context(), item))
	}
	return upload
}

// Of uploads at a time one is committed, whole, and the others are told that they were not.
func TestUploadsAtATime(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	d, others := env.Engine.Dispatches, make([]dispatch.Item, 2300)
	for n := range others {
		others[n] = dispatch.Item{ID: "other-" + strconv.Itoa(n)}
	}
	open := func(id string) wire.Key {
		env.Policy("d-"+id, testenv.JSON{"callback": testenv.JSON{"url": r.On("/"+id, receiver.Status(200))}})
		order := mass("d-"+id, id, 4000)
		_, _, err := d.Open(t.Context(), order)
		require.NoError(t, err)
		return order.Key
	}
	sent := func(key wire.Key, items []dispatch.Item) {
		t.Helper()
		awaitDispatch(t, env, key, in(dispatch.Done))
		want, got := map[string]bool{}, map[string]bool{}
		for _, item := range items {
			want[item.ID] = true
		}
		for _, call := range r.To("/" + key.BusinessID) {
			got[call.ID()] = true
		}
		require.Equal(t, want, got)
	}

	// The later one began before the earlier one was through: that one goes no further.
	key := open("later")
	earlier := uploading(t, d, key, dispatchItems(2500))
	later := uploading(t, d, key, others)
	_, err := earlier.Commit(t.Context())
	require.Equal(t, wire.Overtaken, wire.CodeOf(err))
	_, err = later.Commit(t.Context())
	require.NoError(t, err)
	sent(key, others)

	// One that needs no second page comes first: what the other stores behind it is not sent.
	key = open("short")
	long := uploading(t, d, key, dispatchItems(2500))
	short := uploading(t, d, key, others[:900])
	_, err = short.Commit(t.Context())
	require.NoError(t, err)
	_, err = long.Commit(t.Context())
	require.Equal(t, wire.Overtaken, wire.CodeOf(err))
	sent(key, others[:900])

	// One goes on with what another stored, and is through before that one.
	key = open("joined")
	long = uploading(t, d, key, dispatchItems(2500))
	short, err = d.Upload(t.Context(), key, 2000)
	require.NoError(t, err)
	require.NoError(t, short.Append(t.Context(), others[0]))
	_, err = short.Commit(t.Context())
	require.NoError(t, err)
	_, err = long.Commit(t.Context())
	require.Equal(t, wire.Overtaken, wire.CodeOf(err))
	sent(key, append(dispatchItems(2000), others[0]))

	// A dispatch has nothing to do with another one that had its id.
	key = open("again")
	uploading(t, d, key, others)
	_, cancelled, err := d.Cancel(t.Context(), key, testenv.Patience)
	require.NoError(t, err)
	require.True(t, cancelled)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, _, err := d.Open(t.Context(), mass("d-again", "again", 4000))
		assert.NoError(c, err)
	}, testenv.Patience, 50*time.Millisecond, "it clears away what it stored before its id is free")
	fresh, err := d.Get(t.Context(), key)
	require.NoError(t, err)
	require.Zero(t, fresh.Uploaded)

	// Two go on with the same one.
	key = open("resumed")
	uploading(t, d, key, others)
	first, err := d.Upload(t.Context(), key, 2000)
	require.NoError(t, err)
	second, err := d.Upload(t.Context(), key, 2000)
	require.NoError(t, err)
	for n := range 1200 {
		require.NoError(t, first.Append(t.Context(), dispatch.Item{ID: "lost-" + strconv.Itoa(n)}))
	}
	for _, item := range others[2000:] {
		require.NoError(t, second.Append(t.Context(), item))
	}
	_, err = second.Commit(t.Context())
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "the first has stored more since")
	view, err := d.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, 3000, view.Uploaded)
	third, err := d.Upload(t.Context(), key, 3000)
	require.NoError(t, err)
	require.NoError(t, third.Append(t.Context(), dispatch.Item{ID: "last"}))
	_, err = third.Commit(t.Context())
	require.NoError(t, err)
	want := slices.Clone(others[:2000])
	for n := range 1000 {
		want = append(want, dispatch.Item{ID: "lost-" + strconv.Itoa(n)})
	}
	sent(key, append(want, dispatch.Item{ID: "last"}))
}

// A dispatch that is kept from its rate by a slow receiver says so while it runs, and one
// that asks for more than anybody can send is warned of.
func TestADispatchThatIsNotAtItsRate(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	url := r.On("/slow", func(http.ResponseWriter, *http.Request, int) { <-time.After(200 * time.Millisecond) })
	env.Policy("d-behind", testenv.JSON{"callback": testenv.JSON{"url": url}, "limits": testenv.JSON{"in_flight": 1}})
	reply := env.Do("POST", "/v1/dispatches", testenv.JSON{
		"business_type": "d-behind", "business_id": "a", "per_second": dispatch.MaxRate, "items": numbered(200),
	})
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	expected, err := strconv.Atoi(reply.Header.Get(dispatch.HeaderExpectedRate))
	if runtime.GOMAXPROCS(0) <= 2 { // else nothing speaks against it
		require.NoError(t, err)
		require.Less(t, expected, dispatch.MaxRate)
	}
	key := wire.Key{BusinessType: "d-behind", BusinessID: "a"}
	view := awaitDispatch(t, env, key, func(view dispatch.View) bool { return view.BehindWhy == dispatch.ShortOfSlots })
	require.Less(t, view.Effective, 50.0)
	require.NotZero(t, view.BehindSince)
	_, _, err = env.Engine.Dispatches.Cancel(t.Context(), key, wait)
	require.NoError(t, err)
}

// Temporal's own programs end a dispatch as they end any workflow, and the Web UI's
// summary says how far it was.
func TestTemporalsProgramsEndADispatch(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-cli", testenv.JSON{"callback": testenv.JSON{"url": r.On("/cli", receiver.Status(200))}})
	for name, end := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order := mass("d-cli", strings.ReplaceAll(name, " ", "-"), 50)
			_, _, err := env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
			require.NoError(t, err)
			awaitDispatch(t, env, order.Key, func(view dispatch.View) bool { return view.Done > 0 })
			process.Execute(t, end.Program(t), "--address", testenv.Addr, "workflow", end.Verb, "-w", workflows.DispatchWorkflowID(order.Key))
			view := awaitDispatch(t, env, order.Key, in(dispatch.Cancelled))
			require.Less(t, view.Done, 1000)
			var came []receiver.Call
			require.Eventually(t, func() bool { // what had left comes to its end
				before := len(came)
				came = nil
				for _, call := range r.To("/cli") {
					if call.Header.Get("Wakecall-Dispatch") == order.BusinessID {
						came = append(came, call)
					}
				}
				return len(came) == before
			}, testenv.Patience, time.Second)
			if !end.Abrupt {
				require.Len(t, came, view.Done, "what has left is counted")
			}
		})
	}
}

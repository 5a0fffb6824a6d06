package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

var key = wire.Key{BusinessType: "mass", BusinessID: "d"}

// world is all that an executor needs: a store in memory, a receiver, and a loader.
type world struct {
	// paused reports whether the type is paused.
	paused bool
	mu     sync.Mutex
	memo   dispatch.Memo
	pages  map[string]dispatch.Page
	// told are the heartbeats, and beat is the result of one; nil for success.
	told []dispatch.State
	beat func(n int) error
	// gone is why the dispatch cannot be read, and broken why pages cannot.
	gone, broken error
	// reads and stores are the durations of reading and storing a page, and wrote are the
	// pages to be stored.
	reads, stores time.Duration
	wrote         []wrote
	policy        policy.Policy
	noPolicy      error
	wishes        []policy.BackPressure
	claims        []policy.Claim
	// progress are the times of the progress reports.
	progress []time.Time
	// came are the messages that arrived, and answer is the answer to one; nil for taken.
	came   []message
	answer func(m send.Message, n int) send.Outcome
	takes  time.Duration
	swept  dispatch.Cleanup
}

type wrote struct {
	id   string
	page dispatch.Page
}

type message struct {
	send.Message
	at time.Time
}

// newWorld has the items of a shard on pages of the given size.
func newWorld(items, size int) *world {
	h := &world{pages: map[string]dispatch.Page{}, policy: policy.Policy{Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("http://127.0.0.1:1")}}}
	part := dispatch.Part{Prefix: "page/"}
	for first := 0; first < items; first += size {
		var page dispatch.Page
		for n := first; n < min(first+size, items); n++ {
			page.Items = append(page.Items, dispatch.Item{ID: fmt.Sprint("n-", n), Payload: fmt.Appendf(nil, "%d", n)})
		}
		h.pages[part.Page(part.Pages)] = page
		part.Pages++
	}
	began := wire.At(time.Now())
	h.memo = dispatch.Memo{
		Order: dispatch.Dispatch{Key: key, PerSecond: 100, Per: dispatch.PerItem}, Status: dispatch.Running, DueAt: began, StartedAt: began,
		Plan: dispatch.Plan{PerSecond: 100, Began: began, Active: []int{0}},
	}
	return h
}

// shard is all of the items.
func (h *world) shard() dispatch.Shard {
	s := dispatch.Shard{ID: dispatch.ID{Key: key}, Stored: "shard", Plan: h.memo.Plan}
	part := dispatch.Part{Prefix: "page/"}
	for h.pages[part.Page(part.Pages)].Items != nil {
		s.Source.Items += len(h.pages[part.Page(part.Pages)].Items)
		part.Pages++
	}
	if part.Pages > 0 {
		s.Source.Parts = []dispatch.Part{part}
	}
	return s
}

func (h *world) executor() *Executor {
	return New(Config{Store: h, Policies: h, Opener: h, Emergencies: h, Sender: h, Observer: h})
}

// runShard runs a shard, from an earlier run's state if there is one.
func (h *world) runShard(t *testing.T, shard dispatch.Shard, from *dispatch.State) (dispatch.ShardRunResult, error) {
	t.Helper()
	return attempt{executor: h.executor(), number: 1}.run(t, shard, from)
}

// attempt is one of Temporal's attempts at a run, in a process.
type attempt struct {
	executor *Executor
	number   int32
	// lasts is when its worker ends; zero for never.
	lasts time.Duration
}

func (a attempt) run(t *testing.T, shard dispatch.Shard, from *dispatch.State) (dispatch.ShardRunResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(24 * time.Hour)
	if from != nil {
		env.SetHeartbeatDetails(*from)
	}
	run := func(ctx context.Context, shard dispatch.Shard) (dispatch.ShardRunResult, error) {
		info := activity.GetInfo(ctx)
		info.Attempt = a.number
		if a.lasts > 0 {
			ending, cancel := context.WithTimeout(ctx, a.lasts)
			defer cancel()
			ctx = ending
		}
		return a.executor.runAttempt(ctx, shard, info)
	}
	env.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: "dispatch"})
	value, err := env.ExecuteActivity("dispatch", shard)
	if err != nil {
		return dispatch.ShardRunResult{}, err
	}
	var end dispatch.ShardRunResult
	require.NoError(t, value.Get(&end))
	return end, nil
}

func (h *world) ReadPage(_ context.Context, id string) (dispatch.Page, error) {
	<-time.After(h.reads)
	h.mu.Lock()
	defer h.mu.Unlock()
	page, ok := h.pages[id]
	switch {
	case h.broken != nil:
		return page, h.broken
	case !ok:
		return page, &wire.Error{Code: wire.NotFound, Message: "There is no such page."}
	}
	page.Items = slices.Clone(page.Items)
	return page, nil
}

// blob is the largest value that Temporal accepts.
const blob = 2 << 20

func (h *world) WritePage(_ context.Context, id string, page dispatch.Page, _ time.Duration) error {
	return h.store(id, page, false)
}

func (h *world) AddPage(_ context.Context, id string, page dispatch.Page, _ time.Duration) error {
	return h.store(id, page, true)
}

func (h *world) store(id string, page dispatch.Page, added bool) error {
	<-time.After(h.stores)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, exists := h.pages[id]
	if h.broken == nil && added && exists {
		return &wire.Error{Code: wire.AlreadyExists, Message: "There is such a page already."}
	}
	h.wrote = append(h.wrote, wrote{id, page})
	switch {
	case h.broken != nil:
		return h.broken
	case len(page.Encode()) > blob:
		return &wire.Error{Code: wire.Unavailable, Message: "Blob data size exceeds limit."}
	}
	h.pages[id] = page
	return nil
}

func (h *world) Read(context.Context, wire.Key, time.Time) (dispatch.Memo, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.memo, h.gone
}

func (h *world) Heartbeat(_ context.Context, _ []byte, state dispatch.State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, state)
	if h.beat != nil {
		return h.beat(len(h.told))
	}
	return nil
}

func (h *world) ReportProgress(context.Context, wire.Key) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, time.Now())
	return nil
}

func (h *world) CleanUp(_ context.Context, sweep dispatch.Cleanup, beat func()) error {
	h.swept = sweep
	beat()
	return nil
}

func (h *world) Policy(context.Context, string) (policy.Policy, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.policy, h.noPolicy
}

func (h *world) Paused(context.Context, string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.paused, nil
}

func (h *world) HoldBack(_ context.Context, _ string, wish policy.BackPressure) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wishes = append(h.wishes, wish)
	h.policy.BackPressure = &wish
	return nil
}

func (h *world) Claim(_ context.Context, _ string, claim policy.Claim) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims = append(h.claims, claim)
	h.policy.Claims = h.policy.Claims.WithClaim(claim, wire.At(time.Now()))
	return nil
}

func (h *world) Open(sealed string) (string, error) {
	if sealed == "bad" {
		return "", &wire.Error{Code: wire.Internal}
	}
	return "opened " + sealed, nil
}

func (h *world) Dispatched(string, string, int)                    {}
func (h *world) Dispatching(wire.Key, int, float64, time.Duration) {}
func (h *world) with(change func())                                { h.mu.Lock(); defer h.mu.Unlock(); change() }

func (h *world) Send(ctx context.Context, m send.Message) send.Outcome {
	h.mu.Lock()
	h.came = append(h.came, message{m, time.Now()})
	n, answer, takes := len(h.came), h.answer, h.takes
	h.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return send.Failed(delivery.BrokenAnswer)
		}
	}
	if answer != nil {
		return answer(m, n)
	}
	return taken()
}

func taken() send.Outcome {
	return send.Outcome{Answer: delivery.Answer{Delivered: true, Status: 200}, Ended: time.Now()}
}

func refused(status int) send.Outcome {
	return send.Outcome{Answer: delivery.Answer{Class: delivery.Answered, Status: status, Detail: fmt.Sprint("HTTP ", status)}, Ended: time.Now()}
}

// ids are the items that came, in order.
func (h *world) ids() (all []string) {
	for _, m := range h.came {
		all = append(all, m.Headers[send.HeaderBusinessID])
	}
	return all
}

// requireProblem checks the problem that a shard shows by some words of it; "" for none.
func requireProblem(t *testing.T, words string, state dispatch.State) {
	t.Helper()
	if words == "" {
		require.Nil(t, state.Problem)
		return
	}
	require.NotNil(t, state.Problem)
	require.Contains(t, state.Problem.Message, words)
}

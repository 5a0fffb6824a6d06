package dispatches

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
)

func TestAnOrderIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := s.added(3)
	require.Equal(t, dispatch.Scheduled, first.Status)
	require.Equal(t, 3, *first.Items)

	again, created, err := s.Add(t.Context(), order(), items(3))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.Memo.Run, again.Memo.Run, "it is the dispatch that the order started")
	require.Equal(t, 1, s.on.RunsOf(id))

	faster := order()
	faster.PerSecond = 20
	for name, given := range map[string]func() error{
		"other items":  func() error { _, _, err := s.Add(t.Context(), order(), items(2)); return err },
		"another rate": func() error { _, _, err := s.Add(t.Context(), faster, items(3)); return err },
		"an upload":    func() error { _, _, err := s.Open(t.Context(), order()); return err },
	} {
		err := given()
		require.Equal(t, wire.AlreadyExists, wire.CodeOf(err), name)
		refused, _ := errors.AsType[*wire.Error](err)
		require.Equal(t, first.Memo.Run, dispatch.StateOf(refused).Memo.Run, name)
	}
}

// The id of a dispatch that came to nothing is free again, and that of another is not.
func TestWhenTheIDOfADispatchIsFreeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(s *fixture)
		code wire.Code // of the refusal; "" for none
	}{
		"it runs":      {func(s *fixture) { s.run(1) }, ""}, // the same order is the same dispatch
		"done":         {func(s *fixture) { s.end(dispatch.Done) }, wire.AlreadyFinished},
		"with faults":  {func(s *fixture) { s.end(dispatch.DoneWithFailures) }, wire.AlreadyFinished},
		"expired":      {func(s *fixture) { s.end(dispatch.Expired) }, wire.AlreadyFinished},
		"cancelled":    {func(s *fixture) { s.end(dispatch.Cancelled) }, ""},
		"not complete": {func(s *fixture) { s.worker.Close(id, errors.New("a shard was stopped")) }, ""},
		"terminated":   {func(s *fixture) { require.NoError(t, s.on.TerminateWorkflow(t.Context(), id, "", "by hand")) }, ""},
		"asked to stop": {func(s *fixture) {
			s.away()
			require.NoError(t, s.on.CancelWorkflow(t.Context(), id, ""))
		}, wire.CancelPending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			first := s.added(3)
			c.end(s)
			ended := name != "it runs"
			view, created, err := s.Add(t.Context(), order(), items(3))
			if c.code != "" {
				require.Equal(t, c.code, wire.CodeOf(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, ended, created)
			require.Equal(t, ended, first.Memo.Run != view.Memo.Run)
		})
	}
}

// A dispatch that says that it was cancelled may still be clearing away what it stored. An order under its
// id waits for that.
func TestAnOrderWhileACancelledDispatchClearsAway(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"it ends": true, "it goes on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			first := s.added(3)
			s.change(func(memo *dispatch.Memo) {
				memo.Status, memo.FinishedAt, memo.Total = dispatch.Cancelled, wire.At(time.Now()), &dispatch.Counts{}
			})
			ctx, cancel := context.WithCancel(t.Context())
			s.on.Before = func(call enginetest.Call) error {
				if call.Name == "GetWorkflow" && ends {
					s.on.Before = nil
					s.worker.Cancel(id)
				} else if call.Name == "GetWorkflow" {
					cancel()
				}
				return nil
			}
			view, created, err := s.Add(ctx, order(), items(2))
			require.Equal(t, ends, err == nil, "%v", err)
			require.Equal(t, ends, created)
			if ends {
				require.NotEqual(t, first.Memo.Run, view.Memo.Run)
				require.Equal(t, 2, *view.Items)
			}
		})
	}
}

// The shards of a terminated dispatch end a moment after it. An order under its id waits for them: its own
// have the same ids.
func TestAnOrderWhileShardsOfATerminatedDispatchEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(3)
		s.run(2)
		shard := s.shard(1, dispatch.State{})
		s.worker.Adopt(shard, id)
		require.NoError(t, s.on.TerminateWorkflow(t.Context(), id, "", "by hand"))
		began := time.Now()
		time.AfterFunc(time.Second, func() { s.worker.Close(shard, nil) })
		_, created, err := s.Add(t.Context(), order(), items(2))
		require.NoError(t, err)
		require.True(t, created)
		require.Equal(t, time.Second, time.Since(began).Truncate(time.Second))
	})
}

func TestWhatAnOrderIsRefusedFor(t *testing.T) {
	t.Parallel()
	loader := &dispatch.Loader{URL: "https://items.test/"}
	for name, c := range map[string]struct {
		policy func(*policy.Policy)
		order  func(*dispatch.Dispatch)
		items  []dispatch.Item
		code   wire.Code
	}{
		"no items":              {nil, nil, nil, wire.InvalidRequest},
		"an item twice":         {nil, nil, []dispatch.Item{item(1), item(1)}, wire.InvalidRequest},
		"items beside a loader": {nil, func(d *dispatch.Dispatch) { d.Loader = loader }, items(1), wire.InvalidRequest},
		"no rate":               {nil, func(d *dispatch.Dispatch) { d.PerSecond = 0 }, items(1), wire.InvalidRequest},
		"no policy":             {nil, func(d *dispatch.Dispatch) { d.BusinessType = "invoice" }, items(1), wire.UnknownBusinessType},
		"receivers that connect": {func(p *policy.Policy) {
			p.Callback = delivery.Callback{Destination: delivery.Destination{Stream: true}}
		}, nil, items(1), wire.InvalidRequest},
		"pages for a broker of the policy": {func(p *policy.Policy) {
			p.Callback = delivery.Callback{Destination: delivery.Destination{Broker: "main"}}
		}, func(d *dispatch.Dispatch) { d.Per = dispatch.PerPage }, items(1), wire.InvalidRequest},
		"pages for a URL of its own": {func(p *policy.Policy) {
			p.Callback = delivery.Callback{Destination: delivery.Destination{Broker: "main"}}
		}, func(d *dispatch.Dispatch) {
			d.Per, d.Callback = dispatch.PerPage, &delivery.Callback{Destination: delivery.HTTP("https://own.test/")}
		}, items(1), ""},
		"a policy that is closed": {func(p *policy.Policy) { p.ClosedUntil = wire.At(time.Now().Add(time.Hour)) }, nil, items(1), wire.Unavailable},
		"nobody to call":          {func(p *policy.Policy) { p.Callback = delivery.Callback{} }, nil, items(1), wire.InvalidRequest},
		"nothing":                 {nil, nil, items(1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on, current, given := &enginetest.Temporal{}, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}, order()
			if c.policy != nil {
				c.policy(&current)
			}
			if c.order != nil {
				c.order(&given)
			}
			on.Policy(t, current.WithDefaults())
			s := &fixture{Dispatches: dispatchesOn(on), t: t, on: on, worker: enginetest.Worker{On: on}}
			on.OnEvent = s.told
			_, _, err := s.Add(t.Context(), given, c.items)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.code, wire.CodeOf(err))
			require.Zero(t, on.RunsOf(id), "it has started nothing")
			_, _, err = s.Open(t.Context(), given)
			if len(c.items) == 1 && given.Loader == nil {
				require.Equal(t, c.code, wire.CodeOf(err), "an upload goes by the same rules")
			}
		})
	}
	s := open(t)
	given := order()
	given.Loader = loader
	_, _, err := s.Open(t.Context(), given)
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), "a loader goes without an upload")
}

// A dispatch is due when its order says: at once, later, or by its rule. One of a loader waits for
// no upload.
func TestWhenADispatchIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hour, at := wire.Duration(time.Hour), wire.At(time.Now().Add(2*time.Hour))
		for name, c := range map[string]struct {
			change func(*dispatch.Dispatch)
			due    time.Duration
			status dispatch.Status
		}{
			"at once":          {func(*dispatch.Dispatch) {}, 0, dispatch.Uploading},
			"after a delay":    {func(d *dispatch.Dispatch) { d.Delay = &hour }, time.Hour, dispatch.Uploading},
			"at an instant":    {func(d *dispatch.Dispatch) { d.DueAt = &at }, 2 * time.Hour, dispatch.Uploading},
			"by a rule":        {func(d *dispatch.Dispatch) { d.Recurrence = &recurrence.Rule{Every: &hour} }, time.Hour, dispatch.Uploading},
			"by a paused rule": {func(d *dispatch.Dispatch) { d.Recurrence = &recurrence.Rule{Every: &hour, Paused: true} }, time.Hour, dispatch.Uploading},
		} {
			s := open(t)
			given := order()
			c.change(&given)
			view, _, err := s.Open(t.Context(), given)
			require.NoError(t, err, name)
			require.Equal(t, c.status, view.Status, name)
			require.LessOrEqual(t, view.DueAt.Until(time.Now()), c.due, name)
			require.Greater(t, view.DueAt.Until(time.Now()), c.due-time.Hour, name)
			require.Equal(t, given.Recurrence != nil && given.Recurrence.Paused, view.Memo.Plan.Paused, name)
		}
		s, loaded := open(t), order()
		loaded.Loader = &dispatch.Loader{URL: "https://items.test/"}
		view, created, err := s.Add(t.Context(), loaded, nil)
		require.NoError(t, err)
		require.True(t, created)
		require.Equal(t, dispatch.Scheduled, view.Status)
		require.Empty(t, s.on.Calls("SignalWorkflow"), "nothing is uploaded")
		s, loaded.Recurrence = open(t), &recurrence.Rule{Every: &hour, Paused: true}
		view, _, err = s.Add(t.Context(), loaded, nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.Paused, view.Status)
	})
}

// Whoever orders more than the workers have shown is told what to expect.
func TestWhatAnOrderMayExpect(t *testing.T) {
	t.Parallel()
	s, fast := open(t), order()
	s.capacity.observe(dispatch.View{Status: dispatch.Running, BehindWhy: dispatch.ShortOfWorker, Achieved: dispatch.Rates{Last10Seconds: 800}})
	fast.PerSecond = 1000
	view, _, err := s.Open(t.Context(), fast)
	require.NoError(t, err)
	require.InDelta(t, 800, view.Expected, 0.01)
	require.Len(t, s.on.Calls("ListWorkflow"), 1)
	_, _, err = s.Open(t.Context(), fast)
	require.NoError(t, err)
	require.Len(t, s.on.Calls("ListWorkflow"), 1, "what was shown is looked up now and then")
}

func TestAnOrderWithoutTemporal(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"DescribeWorkflowExecution", "ExecuteWorkflow", "SignalWorkflow"} {
		s := open(t)
		s.on.Refuse(call, "", errors.New("down"))
		_, _, err := s.Add(t.Context(), order(), items(1))
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
	s := open(t)
	s.on.Refuse("ListWorkflow", "", errors.New("down"))
	_, _, err := s.Add(t.Context(), order(), items(1))
	require.NoError(t, err, "no list is needed")
}

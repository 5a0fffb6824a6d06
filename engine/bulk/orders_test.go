package bulk

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/workflows"
)

var juneID = workflows.BulkJob.WorkflowID("june")

func key(id string) wire.Key { return wire.Key{BusinessType: "order", BusinessID: id} }

func TestWhatAnOrderIsRefusedFor(t *testing.T) {
	t.Parallel()
	reach := func(url string) *timer.Terms {
		return &timer.Terms{Callback: &delivery.Callback{Destination: delivery.HTTP(url)}}
	}
	sealed := &timer.Terms{Callback: &delivery.Callback{Destination: delivery.HTTP("https://r.test/"), Headers: map[string]string{"X": "secret"}}}
	for name, c := range map[string]struct {
		change func(*job.Bulk)
		want   string
	}{
		"no id":                   {func(b *job.Bulk) { b.ID = "a b" }, "/id"},
		"no operation":            {func(b *job.Bulk) { b.Operation = "paint" }, "/operation"},
		"an edit of nothing":      {func(b *job.Bulk) { b.Operation = job.Edit }, "/edit"},
		"an edit that is no URL":  {func(b *job.Bulk) { b.Operation, b.Edit = job.Edit, reach("nowhere") }, "/edit/callback"},
		"finished timers":         {func(b *job.Bulk) { b.Filter.Status = timer.Delivered }, "/filter/status"},
		"secrets without a key":   {func(b *job.Bulk) { b.Operation, b.Edit = job.Edit, sealed }, "/edit/callback"},
		"a rate beyond all bound": {func(b *job.Bulk) { b.PerSecond = 1e9 }, "/per_second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, given := open(t), order(job.Cancel)
			c.change(&given)
			_, err := s.Start(t.Context(), given)
			require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
			require.ErrorContains(t, err, c.want)
			require.Empty(t, s.on.Calls("ExecuteWorkflow"), "nothing is started")
		})
	}
}

// An order may name a dry run of its own timers, which is done and has kept its list.
func TestAnOrderAfterACount(t *testing.T) {
	t.Parallel()
	two, none := 2, 0
	kept := job.BulkProgress{Tally: job.Tally{Found: &two}, Pages: 1}
	for name, c := range map[string]struct {
		end     any
		change  func(count, order *job.Bulk)
		refused bool
	}{
		"its own":               {kept, func(*job.Bulk, *job.Bulk) {}, false},
		"that found nothing":    {job.BulkProgress{Tally: job.Tally{Found: &none}}, func(*job.Bulk, *job.Bulk) {}, false},
		"with another edit":     {kept, func(count, _ *job.Bulk) { count.Shift = wire.Duration(time.Minute) }, false},
		"that has no list":      {job.BulkProgress{Tally: job.Tally{Found: &two}}, func(*job.Bulk, *job.Bulk) {}, true},
		"that failed":           {temporal.NewApplicationError("broken", ""), func(*job.Bulk, *job.Bulk) {}, true},
		"that goes on":          {nil, func(*job.Bulk, *job.Bulk) {}, true},
		"that is unknown":       {kept, func(_, order *job.Bulk) { order.Counted = "may" }, true},
		"that is none":          {kept, func(count, _ *job.Bulk) { count.DryRun = false }, true},
		"of another filter":     {kept, func(_, order *job.Bulk) { order.Filter.Status = timer.Scheduled }, true},
		"of other labels":       {kept, func(_, order *job.Bulk) { order.Filter.Labels = timer.Labels{"a": "1"} }, true},
		"of another act":        {kept, func(_, order *job.Bulk) { order.Operation, order.Shift = job.Cancel, 0 }, true},
		"without a name at all": {kept, func(_, order *job.Bulk) { order.Counted = "a b" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			count := order(job.Move)
			count.Shift, count.DryRun = wire.Duration(time.Hour), true
			given := count
			given.ID, given.DryRun, given.Counted = "july", false, "june"
			c.change(&count, &given)
			_, err := s.Start(t.Context(), count)
			require.NoError(t, err)
			if c.end != nil {
				s.worker.Close(juneID, c.end)
			}
			ordered, err := s.Start(t.Context(), given)
			if c.refused {
				require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
				require.ErrorContains(t, err, "/counted")
				require.Zero(t, s.on.RunsOf(workflows.BulkJob.WorkflowID("july")))
				return
			}
			require.NoError(t, err)
			counts, _ := c.end.(job.BulkProgress)
			require.Equal(t, counts.Pages, ordered.Order.CountedPages)
			again, err := s.Start(t.Context(), given)
			require.NoError(t, err)
			require.True(t, again.Again, "the same order is the same job")
		})
	}
}

// A job is shown as it stands, stopped, listed, and told of as no job where there is none.
func TestTheErrorsOfJobs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(s site) error
		call string
	}{
		"start":  {func(s site) error { _, err := s.Start(t.Context(), order(job.Cancel)); return err }, "ExecuteWorkflow"},
		"again":  {func(s site) error { return s.Repeat(t.Context(), order(job.Cancel)) }, "ExecuteWorkflow"},
		"get":    {func(s site) error { _, err := s.Get(t.Context(), "june"); return err }, "DescribeWorkflowExecution"},
		"stop":   {func(s site) error { _, err := s.Stop(t.Context(), "june", 0); return err }, "CancelWorkflow"},
		"list":   {func(s site) error { _, _, err := s.List(t.Context(), jobs.Request{Size: 1}); return err }, "ListWorkflow"},
		"result": {func(s site) error { return s.Results(t.Context(), "june", nil) }, "DescribeWorkflowExecution"},
		"find":   {func(s site) error { _, _, err := s.Find(t.Context(), order(job.Cancel), nil); return err }, "ListWorkflow"},
		"moving": {func(s site) error { _, _, err := s.FindMoving(t.Context(), order(job.Cancel), 1, nil); return err }, "ListWorkflow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{serviceerror.NewUnavailable("busy"), serviceerror.NewPermissionDenied("no", ""), errors.New("down")} {
				s := open(t)
				if name != "start" {
					_, failed := s.Start(t.Context(), order(job.Cancel))
					require.NoError(t, failed)
				}
				s.on.Refuse(c.call, "", err)
				require.Equal(t, wire.Unavailable, wire.CodeOf(c.act(s)))
			}
		})
	}
}

// A stop meets a job that has ended, or is gone, and says so.
func TestAStopThatComesTooLate(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.Stop(t.Context(), "june", 0)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, err = s.Start(t.Context(), order(job.Cancel))
	require.NoError(t, err)
	s.on.Before = func(call enginetest.Call) error {
		if call.Name == "CancelWorkflow" {
			s.worker.Close(juneID, job.BulkProgress{Tally: job.Tally{Done: 7}})
		}
		return nil
	}
	done, err := s.Stop(t.Context(), "june", time.Minute)
	require.NoError(t, err)
	require.Equal(t, job.Done, done.Status)
	require.Equal(t, 7, done.Counts.Done)

	gone := open(t)
	_, err = gone.Start(t.Context(), order(job.Cancel))
	require.NoError(t, err)
	gone.on.Refuse("CancelWorkflow", "", serviceerror.NewNotFound("deleted in this moment"))
	_, err = gone.Stop(t.Context(), "june", 0)
	require.ErrorContains(t, err, "no such bulk job")
}

// How a job ended is told by its workflow: what it counted, as far as it could say.
func TestHowAJobEnds(t *testing.T) {
	t.Parallel()
	seven := job.BulkProgress{Tally: job.Tally{Done: 7}}
	for name, c := range map[string]struct {
		end    func(s site)
		status job.Status
		done   int
	}{
		"done":             {func(s site) { s.worker.Close(juneID, seven) }, job.Done, 7},
		"stopped":          {func(s site) { s.worker.Cancel(juneID, seven) }, job.Stopped, 7},
		"unheard of":       {func(s site) { s.worker.Cancel(juneID) }, job.Stopped, 0},
		"terminated early": {func(s site) { _ = s.on.TerminateWorkflow(t.Context(), juneID, "", "") }, job.Stopped, 0},
		"terminated": {func(s site) {
			s.worker.Pend(juneID, pending(t, seven))
			_ = s.on.TerminateWorkflow(t.Context(), juneID, "", "")
		}, job.Stopped, 7},
		"failed": {func(s site) { s.worker.Close(juneID, temporal.NewApplicationError("broken", "")) }, job.Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.on.OnEvent = nil
			_, err := s.Start(t.Context(), order(job.Cancel))
			require.NoError(t, err)
			c.end(s)
			ended, err := s.Get(t.Context(), "june")
			require.NoError(t, err)
			require.Equal(t, c.status, ended.Status)
			require.Equal(t, c.done, ended.Counts.Done)
			require.NotZero(t, ended.FinishedAt)
			require.Empty(t, ended.WaitsFor)
			if strings.HasPrefix(name, "terminated") {
				return
			}
			s.on.Refuse("GetWorkflow", "", errors.New("down"))
			_, err = s.Get(t.Context(), "june")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "what it counted is not known")
		})
	}
}

// Results are the outcomes of the pages, and of the page at hand what was told last.
func TestTheResultsOfAJob(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.Start(t.Context(), order(job.Cancel))
	require.NoError(t, err)
	page := func(number, from, to int, outcomes ...job.Outcome) {
		var items []job.Item
		for n := from; n < to; n++ {
			items = append(items, job.Item{Key: key(strconv.Itoa(n)), DueAt: 1})
		}
		require.NoError(t, s.WritePage(t.Context(), "june", number, job.Page{Items: items, Outcomes: outcomes}))
	}
	done, skipped := job.Outcome{Result: job.ResultDone}, job.Outcome{Result: job.ResultSkipped, Code: wire.AlreadyFinished}
	page(0, 0, 2, done, skipped)
	page(1, 2, 4)
	page(2, 4, 5)
	s.worker.Pend(juneID, pending(t, job.BulkProgress{Pages: 3, Position: job.Position{Page: job.Token(1), After: "order/2"}, Outcomes: []job.Outcome{skipped}}))
	lines := func() (lines []job.Line) {
		require.NoError(t, s.Results(t.Context(), "june", func(line job.Line) error { lines = append(lines, line); return nil }))
		return lines
	}
	require.Equal(t, []job.Line{{Key: key("0"), Outcome: done}, {Key: key("1"), Outcome: skipped}, {Key: key("2"), Outcome: skipped}}, lines())

	page(1, 2, 4, done, done)
	page(2, 4, 5, done)
	s.worker.Close(juneID, job.BulkProgress{Pages: 3, Position: job.Position{Page: job.Token(2)}})
	require.Len(t, lines(), 5)
	enough := errors.New("enough")
	require.ErrorIs(t, s.Results(t.Context(), "june", func(job.Line) error { return enough }), enough)
	s.worker.Say(t, juneID, workflows.BulkJob.Memo, "?")
	require.Equal(t, wire.Internal, wire.CodeOf(s.Results(t.Context(), "june", nil)))
}

// Those of a dry run are what it has found, also beyond the page that it has reached.
func TestTheResultsOfADryRun(t *testing.T) {
	t.Parallel()
	s, given := open(t), order(job.Cancel)
	given.DryRun = true
	_, err := s.Start(t.Context(), given)
	require.NoError(t, err)
	for number, id := range []string{"0", "1"} {
		page := job.Page{Items: []job.Item{{Key: key(id), DueAt: wire.Instant(number + 1)}}}
		require.NoError(t, s.WritePage(t.Context(), "june", number, page))
	}
	s.worker.Close(juneID, job.BulkProgress{Pages: 2})
	var lines []job.Line
	require.NoError(t, s.Results(t.Context(), "june", func(line job.Line) error { lines = append(lines, line); return nil }))
	found := job.Outcome{Result: job.ResultFound}
	require.Equal(t, []job.Line{{Key: key("0"), Outcome: found, DueAt: 1}, {Key: key("1"), Outcome: found, DueAt: 2}}, lines)
}

// What a job has to miss nothing is looked for once more, under an id of its own, and not for ever.
func TestAJobIsRepeated(t *testing.T) {
	t.Parallel()
	s, given := open(t), order(job.Cancel)
	for range 2 {
		require.NoError(t, s.Repeat(t.Context(), given), "it may be called again")
	}
	require.Equal(t, 1, s.on.RunsOf(workflows.BulkJob.WorkflowID("june~1")))
	given.ID = "june~1000"
	before := len(s.on.Calls("ExecuteWorkflow"))
	require.NoError(t, s.Repeat(t.Context(), given))
	require.Len(t, s.on.Calls("ExecuteWorkflow"), before)
}

// A job is about the timers that its filter finds, the open ones or those that failed.
func TestWhatAJobFinds(t *testing.T) {
	t.Parallel()
	s := open(t, "open", "failed", "done", "held")
	s.worker.Fail("order/failed")
	s.worker.Deliver("order/done")
	s.worker.State(t, "order/held", timer.Delivering)
	long := wire.At(time.Now()).Add(-time.Hour)
	for name, c := range map[string]struct {
		operation job.Operation
		filter    timer.Filter
		booked    wire.Instant
		want      []string
	}{
		"open ones":              {job.Cancel, timer.Filter{}, 0, []string{"held", "open"}},
		"of another type":        {job.Cancel, timer.Filter{BusinessType: "invoice"}, 0, nil},
		"with an id":             {job.Fire, timer.Filter{BusinessID: "open"}, 0, []string{"open"}},
		"that are delivering":    {job.Cancel, timer.Filter{Status: timer.Delivering}, 0, []string{"held"}},
		"failed ones":            {job.Redeliver, timer.Filter{}, 0, []string{"failed"}},
		"due by now":             {job.Cancel, timer.Filter{DueTo: wire.At(time.Now())}, 0, nil},
		"failed long ago":        {job.Redeliver, timer.Filter{EndedTo: long}, 0, nil},
		"booked before":          {job.Cancel, timer.Filter{}, long, nil},
		"booked before just now": {job.Cancel, timer.Filter{}, wire.At(time.Now().Add(time.Minute)), []string{"held", "open"}},
	} {
		given := order(c.operation)
		if c.filter.BusinessType == "" {
			c.filter.BusinessType = "order"
		}
		given.Filter, given.BookedBefore = c.filter, c.booked
		items, _, err := s.Find(t.Context(), given, nil)
		require.NoError(t, err, name)
		var found []string
		for _, item := range items {
			found = append(found, item.BusinessID)
		}
		require.ElementsMatch(t, c.want, found, name)
	}
}

// A timer that goes on in another run while it is looked for is found by the run before.
func TestAJobFindsWhatIsMoving(t *testing.T) {
	t.Parallel()
	s := open(t, "moved", "still", "ended")
	since := wire.At(time.Now())
	hour := wire.Duration(time.Hour)
	for _, id := range []string{"moved", "ended"} {
		s.worker.Apply(t, "order/"+id, timer.Change{ID: "c", Terms: timer.Terms{Delay: &hour}.FixLocalDue(), At: wire.At(time.Now()), Fingerprint: "f"})
	}
	s.worker.Deliver("order/ended")
	find := func(given job.Bulk) (found []string) {
		items, _, err := s.FindMoving(t.Context(), given, since, nil)
		require.NoError(t, err)
		for _, item := range items {
			found = append(found, item.BusinessID)
		}
		return found
	}
	require.Equal(t, []string{"moved"}, find(order(job.Cancel)))
	require.Empty(t, find(order(job.Redeliver)), "what failed does not move")
	for name, filter := range map[string]timer.Filter{
		"another id":       {BusinessType: "order", BusinessID: "still"},
		"another status":   {BusinessType: "order", Status: timer.Delivering},
		"another due time": {BusinessType: "order", DueTo: since},
	} {
		given := order(job.Cancel)
		given.Filter = filter
		require.Empty(t, find(given), name)
	}
	s.on.Refuse("DescribeWorkflowExecution", "", errors.New("down"))
	_, _, err := s.FindMoving(t.Context(), order(job.Cancel), since, nil)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A move and an edit change what they say, counted from what was found, and once.
func TestAMoveAndAnEdit(t *testing.T) {
	t.Parallel()
	payload := &timer.Payload{Data: []byte(`2`), ContentType: timer.ContentTypeJSON}
	for name, c := range map[string]struct {
		change func(*job.Bulk)
		check  func(t *testing.T, before job.Item, after timer.View)
	}{
		"move": {func(b *job.Bulk) { b.Operation, b.Shift = job.Move, wire.Duration(2*time.Hour) }, func(t *testing.T, before job.Item, after timer.View) {
			require.Equal(t, before.DueAt.Add(2*time.Hour), after.DueAt)
		}},
		"move into the past": {func(b *job.Bulk) { b.Operation, b.Shift = job.Move, -wire.Duration(wire.MaxAhead) }, func(t *testing.T, _ job.Item, after timer.View) {
			require.Less(t, after.DueAt, wire.At(time.Now()))
		}},
		"edit": {func(b *job.Bulk) { b.Operation, b.Edit = job.Edit, &timer.Terms{Payload: payload} }, func(t *testing.T, before job.Item, after timer.View) {
			require.Equal(t, before.DueAt, after.DueAt)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, given := open(t, "1"), order(job.Cancel)
			c.change(&given)
			item := s.found(t, given)
			pending, err := s.Do(t.Context(), given, item)
			require.NoError(t, err)
			require.False(t, pending)
			view, err := s.Worker.reader.Get(t.Context(), item.Key)
			require.NoError(t, err)
			c.check(t, item, view)
			require.Equal(t, given.ChangeFingerprint(), view.Memo.Fingerprint)
			_, err = s.Do(t.Context(), given, item)
			require.NoError(t, err, "nobody was told: it was done")
			require.Equal(t, 2, s.on.RunsOf("order/1"))
		})
	}
}

// A job that is to miss nothing cancels a timer whatever has become of it, and no other booking.
func TestACancelOfABooking(t *testing.T) {
	t.Parallel()
	given := order(job.Cancel)
	given.BookedBefore = wire.At(time.Now().Add(time.Minute))
	for name, c := range map[string]struct {
		since func(s site)
		code  wire.Code
	}{
		"as it was found": {func(site) {}, ""},
		"changed since": {func(s site) {
			_, _, err := s.booked.Fire(t.Context(), bookings.Target{Key: key("1"), Wait: time.Minute})
			require.NoError(t, err)
		}, ""},
		"booked anew": {func(s site) {
			_, _, err := s.booked.Cancel(t.Context(), bookings.Target{Key: key("1"), Wait: time.Minute})
			require.NoError(t, err)
			s.book(t, "1")
		}, wire.PreconditionFailed},
		"delivered": {func(s site) { s.worker.Deliver("order/1") }, wire.AlreadyFinished},
		"deleted":   {func(s site) { s.on.Refuse("DescribeWorkflowExecution", "order/1", serviceerror.NewNotFound("deleted")) }, wire.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "1")
			item := s.found(t, given)
			c.since(s)
			_, err := s.Do(t.Context(), given, item)
			require.Equal(t, c.code == "", err == nil, err)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
		})
	}
}

// Without a worker what was done is durable, and told as pending.
func TestWhatNoWorkerHasApplied(t *testing.T) {
	t.Parallel()
	s := open(t, "1")
	item := s.found(t, order(job.Cancel))
	s.on.OnEvent = nil
	ctx := t.Context()
	s.kernel.EndWaits()
	pending, err := s.Do(ctx, order(job.Cancel), item)
	require.NoError(t, err)
	require.True(t, pending)
}

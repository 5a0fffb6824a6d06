package bulk

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/seal"
)

// site has some timers of type order, and bulk jobs that nobody carries out.
type site struct {
	*Bulk
	booked *bookings.Bookings
	on     *enginetest.Temporal
	worker enginetest.Worker
	kernel *kernel.Kernel
}

func open(t *testing.T, ids ...string) site {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	box, err := seal.New("")
	require.NoError(t, err)
	known := policies.New(k, policies.Config{TTL: time.Hour, Box: box})
	reader := timers.NewReader(k, known, waits.New(known, emergencies.New(k, time.Hour), queues.New(k, known), nil))
	s := site{on: on, kernel: k, worker: enginetest.Worker{On: on}, booked: bookings.New(bookings.Config{
		Kernel: k, Reader: reader, Policies: known, Limiter: &quota.Local{},
	})}
	s.Bulk = New(Config{Kernel: k, Reader: reader, Bookings: s.booked, Policies: known})
	s.worker.Work(t)
	for _, id := range ids {
		s.book(t, id)
	}
	return s
}

func (s site) book(t *testing.T, id string) {
	t.Helper()
	hour := wire.Duration(time.Hour)
	_, _, err := s.booked.Add(t.Context(), bookings.Request{Key: wire.Key{BusinessType: "order", BusinessID: id}, Terms: timer.Terms{Delay: &hour}})
	require.NoError(t, err)
}

func order(operation job.Operation) job.Bulk {
	return job.Bulk{ID: "june", Operation: operation, Filter: timer.Filter{BusinessType: "order"}, PerSecond: 10}
}

// found is the one timer that an order is about.
func (s site) found(t *testing.T, order job.Bulk) job.Item {
	t.Helper()
	items, next, err := s.Find(t.Context(), order, nil)
	require.NoError(t, err)
	require.Empty(t, next)
	require.Len(t, items, 1)
	return items[0]
}

func TestAnOrderIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	first, err := s.Start(t.Context(), order(job.Cancel))
	require.NoError(t, err)
	require.False(t, first.Again)
	again, err := s.Start(t.Context(), order(job.Cancel))
	require.NoError(t, err)
	require.True(t, again.Again)
	_, err = s.Start(t.Context(), order(job.Fire))
	require.Equal(t, wire.AlreadyExists, wire.CodeOf(err), "another order under its id")
	require.NoError(t, s.OrderOnce(t.Context(), order(job.Fire)), "one that was given before is no error")
}

func TestWhatIsDoneToATimer(t *testing.T) {
	t.Parallel()
	for operation, check := range map[job.Operation]func(t *testing.T, view timer.View){
		job.Cancel: func(t *testing.T, view timer.View) { require.Equal(t, timer.Cancelled, view.Status) },
		job.Fire:   func(t *testing.T, view timer.View) { require.LessOrEqual(t, view.DueAt, wire.At(time.Now())) },
	} {
		t.Run(string(operation), func(t *testing.T) {
			t.Parallel()
			s := open(t, "1")
			item := s.found(t, order(operation))
			pending, err := s.Do(t.Context(), order(operation), item)
			require.NoError(t, err)
			require.False(t, pending)
			view, err := s.Worker.reader.Get(t.Context(), item.Key)
			require.NoError(t, err)
			check(t, view)

			// Nobody was told: it is asked for again, and done once.
			runs := s.on.RunsOf(item.String())
			_, _ = s.Do(t.Context(), order(operation), item)
			require.Equal(t, runs, s.on.RunsOf(item.String()))
		})
	}
}

// What was changed since it was found is left alone.
func TestATimerThatWasChangedSince(t *testing.T) {
	t.Parallel()
	s := open(t, "1")
	item := s.found(t, order(job.Cancel))
	_, _, err := s.booked.Fire(t.Context(), bookings.Target{Key: item.Key, Wait: time.Minute})
	require.NoError(t, err)
	_, err = s.Do(t.Context(), order(job.Cancel), item)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))
}

// A failed timer is tried again once, however often it is asked for.
func TestABulkRedelivery(t *testing.T) {
	t.Parallel()
	s := open(t, "1")
	s.worker.Fail("order/1")
	item := s.found(t, order(job.Redeliver))
	for range 2 {
		_, err := s.Do(t.Context(), order(job.Redeliver), item)
		require.NoError(t, err)
	}
	require.Equal(t, 2, s.on.RunsOf("order/1"))
	other := order(job.Redeliver)
	other.ID = "july"
	_, err := s.Do(t.Context(), other, item)
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "what one job has tried again counts as done for no other")
}

func TestPagesAreStoredAndClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		page := job.Page{Items: []job.Item{{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, RunID: "r", DueAt: wire.At(time.Now())}}}
		require.NoError(t, s.WritePage(t.Context(), "june", 0, page))
		stored, err := s.ReadPage(t.Context(), "june", 0)
		require.NoError(t, err)
		require.Equal(t, page, stored)
		require.Equal(t, wire.AlreadyExists, wire.CodeOf(s.WritePage(t.Context(), "june", 0, job.Page{New: true})))
		require.NoError(t, s.WritePage(t.Context(), "june", 2, job.Page{New: true}))
		_, err = s.ReadPage(t.Context(), "june", 1)
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		beats := 0
		require.NoError(t, s.ClosePages(t.Context(), "june", 2, func() { beats++ }), "one that is not there was ended before")
		require.Equal(t, 1, beats)
		s.on.Err = errors.New("down")
		require.Error(t, s.ClosePages(t.Context(), "june", 1, func() {}))
	})
}

// pending is the activity of a job, which has said how far it is.
func pending(t *testing.T, progress job.BulkProgress) *workflowpb.PendingActivityInfo {
	t.Helper()
	return &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_STARTED, HeartbeatDetails: enginetest.Encoded(t, progress)}
}

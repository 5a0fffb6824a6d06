package dispatches

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// opened orders a dispatch whose items are uploaded afterwards.
func (s *fixture) opened() {
	s.t.Helper()
	_, created, err := s.Open(s.t.Context(), order())
	require.NoError(s.t, err)
	require.True(s.t, created)
}

// upload begins an upload behind the first from items, and appends those up to to.
func (s *fixture) upload(from, to int) *Upload {
	s.t.Helper()
	u, err := s.Upload(s.t.Context(), key, from)
	require.NoError(s.t, err)
	for n := from; n < to; n++ {
		require.NoError(s.t, u.Append(s.t.Context(), item(n)))
	}
	return u
}

// committed are the parts and sizes that the dispatch was told of last.
func (s *fixture) committed() (last workflows.DispatchCommit) {
	s.t.Helper()
	history := s.on.GetWorkflowHistory(s.t.Context(), id, "", false, 0)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(s.t, err)
		if signal := event.GetWorkflowExecutionSignaledEventAttributes(); signal.GetSignalName() == workflows.SignalCommit {
			require.NoError(s.t, enginetest.Payloads.FromPayloads(signal.GetInput(), &last))
		}
	}
	return last
}

// stored are the items of all parts, in their order.
func (s *fixture) stored(parts []dispatch.Part) (ids []string) {
	s.t.Helper()
	for _, part := range parts {
		for number := range part.Pages {
			page, err := s.ReadPage(s.t.Context(), part.Page(number))
			require.NoError(s.t, err)
			for _, one := range page.Items {
				ids = append(ids, one.ID)
			}
		}
	}
	return ids
}

func ids(n int) (all []string) {
	for i := range n {
		all = append(all, item(i).ID)
	}
	return all
}

// Items are stored in pages as they come, and nothing starts before they are committed.
func TestAnUpload(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	full := tuning.DispatchPage.Items
	u := s.upload(0, 2*full+1)
	require.Equal(t, 2*full, u.Uploaded())
	view, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, dispatch.Uploading, view.Status)
	require.Equal(t, 2*full, view.Uploaded)

	view, err = u.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, dispatch.Scheduled, view.Status)
	require.Equal(t, 2*full+1, *view.Items)
	commit := s.committed()
	require.Equal(t, []int{full, full, 1}, commit.Sizes)
	require.Equal(t, ids(2*full+1), s.stored(commit.Parts))

	_, err = s.Upload(t.Context(), key, 0)
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "every item is stored already")
}

// Items that Temporal does not store are refused, and the dispatch knows of none of them.
func TestAnUploadThatIsNotStored(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	u, err := s.Upload(t.Context(), key, 0)
	require.NoError(t, err)
	s.on.Refuse("ExecuteWorkflow", headOf(u.uploads()), serviceerror.NewUnavailable("busy"))
	for n := 0; err == nil && n <= tuning.DispatchPage.Items; n++ {
		err = u.Append(t.Context(), item(n))
	}
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	view, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	require.Zero(t, view.Uploaded)
}

// An upload that breaks off starts nothing, and goes on behind what was stored.
func TestAnUploadGoesOn(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	full := tuning.DispatchPage.Items
	s.upload(0, 2*full+3) // it breaks off
	for _, from := range []int{1, full, 2*full + 3} {
		_, err := s.Upload(t.Context(), key, from)
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), "what is stored ends elsewhere: %d", from)
	}
	u := s.upload(2*full, 3*full+1) // and breaks off once more
	require.Equal(t, 3*full, u.Uploaded())
	view, err := s.upload(3*full, 3*full+2).Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3*full+2, *view.Items)
	require.Equal(t, ids(3*full+2), s.stored(s.committed().Parts))
}

// One that begins anew leaves nothing of what was stored before.
func TestAnUploadBeginsAnew(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	full := tuning.DispatchPage.Items
	s.upload(0, 2*full+1)
	view, err := s.upload(0, full+1).Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, full+1, *view.Items)
	require.Equal(t, ids(full+1), s.stored(s.committed().Parts))
}

// Of two uploads at a time the later one is heard, and the other is told so.
func TestAnUploadThatWasOvertaken(t *testing.T) {
	t.Parallel()
	full := tuning.DispatchPage.Items
	for name, act := range map[string]func(s *fixture, first *Upload) error{
		"it stores more": func(s *fixture, first *Upload) error {
			for n := range full {
				if err := first.Append(s.t.Context(), item(n)); err != nil {
					return err
				}
			}
			return nil
		},
		"it is committed": func(s *fixture, first *Upload) error { _, err := first.Commit(s.t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.opened()
			first := s.upload(0, full+1)
			second := s.upload(0, full+1)
			require.Equal(t, wire.Overtaken, wire.CodeOf(act(s, first)))
			_, err := second.Commit(t.Context())
			require.NoError(t, err)
		})
	}
}

// Where another upload is committed in the same moment, the one that lost clears its page away.
func TestACommitThatLosesTheRace(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	lost, won := s.upload(0, 1), s.upload(0, 2)
	_, err := won.Commit(t.Context())
	require.NoError(t, err)
	_, err = lost.Commit(t.Context())
	require.Equal(t, wire.Overtaken, wire.CodeOf(err))
	require.Zero(t, s.on.RunsOf(lost.ownPart().Page(0)))
	require.Equal(t, 1, s.on.RunsOf(won.ownPart().Page(0)))
}

// The items of an upload are those of the dispatch that it was begun for, and not of one that has its id
// since.
func TestAnUploadForAnEarlierDispatch(t *testing.T) {
	t.Parallel()
	full := tuning.DispatchPage.Items
	for name, act := range map[string]func(s *fixture, u *Upload) error{
		"it is committed":    func(s *fixture, u *Upload) error { _, err := u.Commit(s.t.Context()); return err },
		"it stores its page": func(s *fixture, u *Upload) error { return u.storeMore(s.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.opened()
			u := s.upload(0, full)
			s.end(dispatch.Cancelled)
			s.opened()
			require.Equal(t, wire.Overtaken, wire.CodeOf(act(s, u)))
			require.Zero(t, s.committed())
			require.Zero(t, s.on.RunsOf(headOf(u.uploads())))
			require.Equal(t, dispatch.Uploading, s.memo().Status)
			_, err := s.upload(0, 2).Commit(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, *s.memo().Items)
		})
	}
}

// A dispatch with inline items may be cancelled before they are stored, and its id ordered again.
func TestInlineItemsOfAnEarlierDispatch(t *testing.T) {
	t.Parallel()
	s := open(t)
	var again bool
	s.on.After = func(call enginetest.Call) error {
		if call.Name == "ExecuteWorkflow" && call.Of == id && !again {
			again = true
			s.end(dispatch.Cancelled)
			s.opened()
		}
		return nil
	}
	_, _, err := s.Add(t.Context(), order(), items(3))
	require.True(t, again)
	require.Equal(t, wire.AlreadyExists, wire.CodeOf(err))
	require.Zero(t, s.committed())
	require.Equal(t, dispatch.Uploading, s.memo().Status)
}

func TestWhatAnUploadIsRefusedFor(t *testing.T) {
	t.Parallel()
	full := tuning.DispatchPage.Items
	s := open(t)
	_, err := s.Upload(t.Context(), key, 0)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "there is no dispatch")
	s.opened()
	_, err = s.upload(0, 0).Commit(t.Context())
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), "there is no item")
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(s.upload(0, 0).Append(t.Context(), dispatch.Item{ID: "a b"})))

	broken := errors.New("a line that is no item")
	_, err = s.UploadAll(t.Context(), key, 0, func(yield func(dispatch.Item, error) bool) {
		_ = yield(item(1), nil) && yield(dispatch.Item{}, broken)
	})
	require.ErrorIs(t, err, broken, "what comes is told of as it is")
	require.Equal(t, dispatch.Uploading, s.memo().Status)

	u := s.upload(0, full)
	s.end(dispatch.Failed)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(u.Append(t.Context(), item(full))), "its time was up")
	require.Zero(t, s.on.RunsOf(headOf(u.uploads())), "nobody else clears the head away")
	_, err = s.Upload(t.Context(), key, 0)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
}

func TestAnUploadToADispatchThatIsBeingCancelled(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	s.away()
	require.NoError(t, s.on.CancelWorkflow(t.Context(), id, ""))
	_, err := s.Upload(t.Context(), key, 0)
	require.Equal(t, wire.CancelPending, wire.CodeOf(err))
}

// An upload that takes its time tells the dispatch that it lives, and a fast one does not.
func TestAnUploadIsHeardOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.opened()
		signs := func() (n int) {
			for _, name := range s.on.Signals(id) {
				if name == workflows.SignalStored {
					n++
				}
			}
			return n
		}
		u := s.upload(0, 3)
		require.Equal(t, 1, signs())
		<-time.After(tuning.UploadHeartbeat)
		require.NoError(t, u.Append(t.Context(), item(3)))
		require.NoError(t, u.Append(t.Context(), item(4)))
		require.Equal(t, 2, signs())
	})
}

// Where no worker takes the commit it is durable all the same.
func TestACommitThatNoWorkerHasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.opened()
		u := s.upload(0, 1)
		told := s.on.OnEvent
		var late *historypb.HistoryEvent
		s.on.OnEvent = func(_ string, event *historypb.HistoryEvent) { late = event }
		view, err := u.Commit(t.Context())
		require.NoError(t, err)
		require.Equal(t, dispatch.Uploading, view.Status)
		told(id, late)
		require.Equal(t, dispatch.Scheduled, s.memo().Status)
	})
}

// The head forgets the uploads that were overtaken long ago.
func TestTheHeadOfManyUploads(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.opened()
	full := tuning.DispatchPage.Items
	var u *Upload
	for range tuning.UploadsKnown + 2 {
		u = s.upload(0, full+1)
	}
	head, err := s.head(t.Context(), u.uploads())
	require.NoError(t, err)
	require.Len(t, head.Earlier, tuning.UploadsKnown)
	require.Equal(t, u.ownPart().Prefix, head.latest())

	beats := 0
	require.NoError(t, s.CleanUp(t.Context(), dispatch.Cleanup{Uploads: u.uploads()}, func() { beats++ }))
	require.Positive(t, beats)
	for _, part := range append(head.Earlier, head.Parts...) {
		require.Zero(t, s.on.RunsOf(part.Page(0)))
	}
	_, err = s.ReadPage(t.Context(), headOf(u.uploads()))
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.NoError(t, s.CleanUp(t.Context(), dispatch.Cleanup{Uploads: u.uploads()}, func() {}), "there is nothing left")
}

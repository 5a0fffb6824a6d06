package dispatches

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Upload stores the items of a dispatch, page by page. Nothing starts before Commit. It is
// not safe for concurrent use.
type Upload struct {
	to   *Uploads
	view dispatch.View
	// runID is the run of the dispatch that it is for. Another dispatch may get the id meanwhile.
	runID string
	// name is the upload's name, and resumed are the parts of the upload that it continues.
	name    string
	resumed []dispatch.Part
	// begun reports whether the head names it, and latest is the head's last name.
	begun  bool
	latest string
	// sizes are those of the stored pages, and through is their sum.
	sizes   []int
	through int
	page    dispatch.Page
	room    dispatch.Room
	// signalledAt is when the dispatch was last told that the upload goes on.
	signalledAt time.Time
}

// keepAlive tells the dispatch now and then that the upload goes on.
func (u *Upload) keepAlive(ctx context.Context) error {
	if time.Since(u.signalledAt) < tuning.UploadHeartbeat {
		return nil
	}
	u.signalledAt = time.Now()
	return u.signal(ctx, workflows.SignalStored, nil)
}

// resume continues an upload that was broken off.
func (u *Upload) resume(ctx context.Context, from int) error {
	if from != u.view.Uploaded {
		return wire.FieldErrors{{Pointer: "from", Code: wire.CodeOutOfRange,
			Detail: "must be 0, or the number of items that are stored: " + strconv.Itoa(u.view.Uploaded)}}.Err()
	}
	head, err := u.to.pages.head(ctx, u.uploads())
	if err != nil {
		return err
	}
	if u.latest = head.latest(); u.latest == "" { // the dispatch has ended meanwhile, and its pages are deleted
		return &wire.Error{Code: wire.Overtaken, State: &u.view, Message: "The items that were stored are gone."}
	}
	for u.through < from {
		memo, err := u.to.pages.readMemo(ctx, head.page(len(u.sizes)))
		if err != nil {
			return err
		}
		u.sizes, u.through = append(u.sizes, memo.Items), u.through+memo.Items
	}
	pages := len(u.sizes)
	for _, part := range head.Parts[:len(head.Parts)-1] {
		pages -= part.Pages
	}
	u.resumed = slices.Clone(head.Parts)
	u.resumed[len(u.resumed)-1].Pages = pages
	return nil
}

func (u *Upload) uploads() string { return workflows.DispatchUploads(u.view.Memo) }

// ownPart is the part that this upload stores itself.
func (u *Upload) ownPart() dispatch.Part {
	return dispatch.Part{Prefix: u.uploads() + u.name + "/"}
}

// stored is the number of its own pages.
func (u *Upload) stored() int {
	pages := len(u.sizes)
	for _, part := range u.resumed {
		pages -= part.Pages
	}
	return pages
}

func (u *Upload) life() time.Duration { return u.view.Memo.Life(time.Now()) }

// Uploaded is the number of stored items.
func (u *Upload) Uploaded() int { return u.through }

// Append takes an item, and stores a page once it is full. The errors are
// [wire.InvalidRequest], [wire.Overtaken] if another upload has begun, and [wire.Unavailable].
func (u *Upload) Append(ctx context.Context, item dispatch.Item) error {
	if err := item.Check().Err(); err != nil {
		return err
	}
	if err := u.keepAlive(ctx); err != nil {
		return err
	}
	if !u.room.Reserve(item) {
		if err := u.storeMore(ctx); err != nil {
			return err
		}
		u.room.Reserve(item)
	}
	u.page.Items = append(u.page.Items, item)
	return nil
}

// storeMore stores a page that is not the last. An upload of a single page needs no head: it
// is committed at once, or never.
func (u *Upload) storeMore(ctx context.Context) error {
	if err := u.confirmLatest(ctx); err != nil {
		return err
	}
	if !u.begun {
		if err := u.begin(ctx); err != nil {
			return err
		}
	}
	return u.store(ctx)
}

// store makes a page durable.
func (u *Upload) store(ctx context.Context) error {
	items := len(u.page.Items)
	memo := pageMemo{Items: items, Through: u.through + items}
	if err := u.to.pages.writePage(ctx, u.ownPart().Page(u.stored()), storedPage{Page: u.page, life: u.life(), memo: memo}); err != nil {
		return err
	}
	u.sizes, u.through = append(u.sizes, items), u.through+items
	u.page, u.room = dispatch.Page{}, tuning.DispatchPage
	return nil
}

// Commit stores the rest and lets the dispatch begin when it is due. The errors are
// [wire.InvalidRequest] without an item, [wire.Overtaken] if another upload has begun or was
// committed, and [wire.Unavailable].
func (u *Upload) Commit(ctx context.Context) (dispatch.View, error) {
	if err := u.confirmLatest(ctx); err != nil {
		return dispatch.View{}, err
	}
	if len(u.page.Items) > 0 {
		if err := u.store(ctx); err != nil {
			return dispatch.View{}, err
		}
	}
	if u.through == 0 {
		return dispatch.View{}, dispatch.CheckItems(nil).Err()
	}
	parts := u.resumed
	if own := u.ownPart(); u.stored() > 0 {
		own.Pages = u.stored()
		parts = append(slices.Clone(parts), own)
	}
	commit := workflows.DispatchCommit{Parts: parts, Sizes: u.sizes, Upload: u.name}
	if err := u.signal(ctx, workflows.SignalCommit, commit); err != nil {
		return dispatch.View{}, err
	}
	view, committed, err := u.to.controls.await(ctx, u.view.Key, kernel.DefaultWait, func(view dispatch.View) bool {
		return view.Status != dispatch.Uploading || view.Memo.Run != u.view.Memo.Run
	})
	if err == nil && committed {
		err = u.confirmCommitted(ctx, view)
	}
	return view, err
}

func (u *Upload) signal(ctx context.Context, name string, value any) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	err := kernel.Translate(u.to.controls.kernel.Client.SignalWorkflow(ctx, workflows.DispatchWorkflowID(u.view.Key), u.runID, name, value))
	if wire.CodeOf(err) == wire.NotFound {
		return u.ended(ctx)
	}
	return err
}

// ended is the error of an upload whose dispatch has ended.
func (u *Upload) ended(ctx context.Context) error {
	view, err := u.to.reader.Get(ctx, u.view.Key)
	switch {
	case err != nil:
		return err
	case view.Memo.Run != u.view.Memo.Run:
		return reordered(view)
	}
	return dispatchFinished(view)
}

// reordered is the error of items for a dispatch that has ended, if another one has its id.
func reordered(view dispatch.View) error {
	return &wire.Error{Code: wire.Overtaken, State: &view, Message: "The dispatch has ended, and another one has its id."}
}

package engine

import (
	"context"
	"sort"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Upload stores the items of a dispatch, page by page. Nothing starts before Commit. It is
// not safe for concurrent use.
type Upload struct {
	dispatches *Dispatches
	view       timer.DispatchView
	name       string
	// sizes are those of the pages that are stored, and through their sum.
	sizes   []int
	through int
	page    timer.DispatchPage
	room    timer.DispatchRoom
	// signed is when the dispatch heard of it last.
	signed time.Time
}

// Upload begins to store the items of a dispatch, or goes on behind the first from items:
// those that [timer.DispatchView.Uploaded] tells. From 0 on it begins anew. Its errors are
// [timer.InvalidRequest], [timer.NotFound], [timer.AlreadyFinished], [timer.Overtaken]
// where every item is stored already, and [timer.Unavailable].
func (d *Dispatches) Upload(ctx context.Context, key timer.Key, from int) (*Upload, error) {
	view, err := d.Get(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case view.Status.Finished():
		return nil, dispatchFinished(view)
	case view.Status != timer.DispatchUploading:
		return nil, &timer.Error{Code: timer.Overtaken, Dispatch: &view, Message: "The items of the dispatch are stored already."}
	}
	u := &Upload{dispatches: d, view: view, name: uuid.NewString(), room: tuning.DispatchPage}
	if from != 0 {
		if err := u.resume(ctx, from); err != nil {
			return nil, err
		}
	}
	return u, u.sign(ctx)
}

// sign tells the dispatch that the upload lives.
func (u *Upload) sign(ctx context.Context) error {
	if time.Since(u.signed) < tuning.UploadSign {
		return nil
	}
	u.signed = time.Now()
	return u.signal(ctx, workflows.SignalStored, nil)
}

// resume goes on with the upload that was broken off.
func (u *Upload) resume(ctx context.Context, from int) error {
	if from != u.view.Uploaded {
		return timer.FieldErrors{{Pointer: "from", Code: timer.CodeOutOfRange,
			Detail: "must be 0, or the number of items that are stored: " + strconv.Itoa(u.view.Uploaded)}}.Err()
	}
	for u.through < from {
		memo, err := u.dispatches.pageSays(ctx, u.part().Page(len(u.sizes)))
		if err != nil {
			return err
		}
		u.sizes, u.through, u.name = append(u.sizes, memo.Items), u.through+memo.Items, memo.Upload
	}
	return nil
}

func (u *Upload) part() timer.DispatchPart { return uploadOf(u.view.Memo) }

// uploadOf is the pages that a client has uploaded.
func uploadOf(memo timer.DispatchMemo) timer.DispatchPart {
	return timer.DispatchPart{Prefix: workflows.DispatchUploadPrefix(memo.Order.Key)}
}

// Uploaded is how many items are stored.
func (u *Upload) Uploaded() int { return u.through }

// Append takes an item, and stores a page once it is full. Its errors are
// [timer.InvalidRequest] and [timer.Unavailable].
func (u *Upload) Append(ctx context.Context, item timer.DispatchItem) error {
	if err := item.Check().Err(); err != nil {
		return err
	}
	if err := u.sign(ctx); err != nil {
		return err
	}
	if !u.room.Take(item) {
		if err := u.store(ctx); err != nil {
			return err
		}
		u.room.Take(item)
	}
	u.page.Items = append(u.page.Items, item)
	return nil
}

// store makes a page durable.
func (u *Upload) store(ctx context.Context) error {
	items := len(u.page.Items)
	memo := pageMemo{Items: items, Through: u.through + items, Upload: u.name}
	life := u.view.Memo.Life(time.Now())
	if err := u.dispatches.writePage(ctx, u.part().Page(len(u.sizes)), storedPage{u.page, life, memo}); err != nil {
		return err
	}
	u.sizes, u.through = append(u.sizes, items), u.through+items
	u.page, u.room = timer.DispatchPage{}, tuning.DispatchPage
	return nil
}

// Commit stores what is left and has the dispatch begin when it is due. Its errors are
// [timer.InvalidRequest] where there is no item, and [timer.Unavailable].
func (u *Upload) Commit(ctx context.Context) (timer.DispatchView, error) {
	if len(u.page.Items) > 0 {
		if err := u.store(ctx); err != nil {
			return timer.DispatchView{}, err
		}
	}
	if u.through == 0 {
		return timer.DispatchView{}, timer.CheckDispatchItems(nil).Err()
	}
	part := u.part()
	part.Pages = len(u.sizes)
	commit := workflows.DispatchCommit{Parts: []timer.DispatchPart{part}, Sizes: u.sizes}
	if err := u.signal(ctx, workflows.SignalCommit, commit); err != nil {
		return timer.DispatchView{}, err
	}
	view, _, err := u.dispatches.await(ctx, u.view.Key, DefaultWait, func(view timer.DispatchView) bool {
		return view.Status != timer.DispatchUploading
	})
	return view, err
}

func (u *Upload) signal(ctx context.Context, name string, value any) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return u.dispatches.signal(ctx, u.view.Key, name, value)
}

// uploaded is how many items of an upload are stored: the first page that is missing, or
// of another upload, ends it.
func (d *Dispatches) uploaded(ctx context.Context, memo timer.DispatchMemo) (items int, err error) {
	part := uploadOf(memo)
	first, err := d.pageSays(ctx, part.Page(0))
	if timer.CodeOf(err) == timer.NotFound {
		return 0, nil
	}
	has := func(number int) (pageMemo, bool) {
		page, failed := d.pageSays(ctx, part.Page(number))
		if failed != nil && timer.CodeOf(failed) != timer.NotFound {
			err = failed
		}
		return page, failed == nil && page.Upload == first.Upload
	}
	bound := 1
	for _, ok := has(bound); ok && err == nil; _, ok = has(bound) {
		bound *= 2
	}
	last := sort.Search(bound, func(number int) bool {
		_, ok := has(number + 1)
		return !ok
	})
	page, _ := has(last)
	return page.Through, err
}

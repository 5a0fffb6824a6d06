package dispatches

import (
	"context"
	"crypto/rand"
	"iter"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Uploads stores the items of dispatches that wait for them.
type Uploads struct {
	reader   *Reader
	pages    *Pages
	controls *Controls
}

// UploadAll stores items page by page, as they come, and commits them. It returns an error
// of the sequence unchanged; then nothing has started, and what is stored stays so. The
// other errors are those of [Uploads.Upload], [Upload.Append] and [Upload.Commit].
func (u *Uploads) UploadAll(
	ctx context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error],
) (view dispatch.View, err error) {
	upload, err := u.Upload(ctx, key, from)
	if err != nil {
		return view, err
	}
	return upload.appendAll(ctx, items)
}

// appendAll stores items as they come, and commits them.
func (u *Upload) appendAll(ctx context.Context, items iter.Seq2[dispatch.Item, error]) (view dispatch.View, err error) {
	for item, err := range items {
		if err == nil {
			err = u.Append(ctx, item)
		}
		if err != nil {
			return view, err
		}
	}
	return u.Commit(ctx)
}

// Upload begins to store the items of a dispatch. It continues after the first from items,
// as in [dispatch.View.Uploaded]; with from 0 it starts afresh. The errors are
// [wire.InvalidRequest], [wire.NotFound], [wire.AlreadyFinished], [wire.Overtaken] if every
// item is stored already, and [wire.Unavailable].
func (u *Uploads) Upload(ctx context.Context, key wire.Key, from int) (*Upload, error) {
	view, runID, err := u.reader.latest(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case view.Status.Finished():
		return nil, dispatchFinished(view)
	case view.CancelRequested:
		return nil, dispatchCancelPending(view)
	case view.Status != dispatch.Uploading:
		return nil, &wire.Error{Code: wire.Overtaken, State: &view, Message: "The items of the dispatch are stored already."}
	}
	upload := &Upload{to: u, view: view, runID: runID, name: rand.Text(), room: tuning.DispatchPage}
	if from != 0 {
		if err := upload.resume(ctx, from); err != nil {
			return nil, err
		}
	}
	return upload, upload.keepAlive(ctx)
}

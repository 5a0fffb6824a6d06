package dispatches

import (
	"context"
	"iter"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

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
	for item, err := range items {
		if err == nil {
			err = upload.Append(ctx, item)
		}
		if err != nil {
			return view, err
		}
	}
	return upload.Commit(ctx)
}

package dispatches

import (
	"context"
	"slices"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Each upload stores its pages under its own name. So two concurrent uploads never share a
// page, nor does one that goes on after another was committed. The head of a dispatch's
// uploads is a page without items that names the pages of the latest upload.

// uploadHead is the content of a head.
type uploadHead struct {
	// Parts are those of the latest upload, in order. The number of pages of the last part
	// is unknown: it is being stored.
	Parts []dispatch.Part `json:"parts,omitempty"`
	// Earlier are the parts of overtaken uploads.
	Earlier []dispatch.Part `json:"earlier,omitempty"`
}

// headOf is the id of the head of uploads.
func headOf(uploads string) string { return uploads + "head" }

// page is the id of a page of the latest upload.
func (h uploadHead) page(number int) string {
	last := len(h.Parts) - 1
	for _, part := range h.Parts[:last] {
		if number < part.Pages {
			return part.Page(number)
		}
		number -= part.Pages
	}
	return h.Parts[last].Page(number)
}

// latest names the part that the latest upload is storing; "" for none.
func (h uploadHead) latest() string {
	if len(h.Parts) == 0 {
		return ""
	}
	return h.Parts[len(h.Parts)-1].Prefix
}

// head reads the head of the latest upload; it is empty before the first page.
func (p *Pages) head(ctx context.Context, uploads string) (uploadHead, error) {
	memo, _, err := p.findMemo(ctx, headOf(uploads))
	return memo.uploadHead, err
}

// begin makes the upload the latest one. The previous upload's pages are kept: it may be
// committed in this very moment.
func (u *Upload) begin(ctx context.Context) error {
	before, err := u.to.pages.head(ctx, u.uploads())
	if err != nil {
		return err
	}
	head := uploadHead{Parts: append(slices.Clone(u.resumed), u.ownPart()), Earlier: before.Earlier}
	if len(u.resumed) == 0 {
		head.Earlier = append(head.Earlier, before.Parts...)
	}
	head.Earlier = head.Earlier[max(len(head.Earlier)-tuning.UploadsKnown, 0):] // the rest expires
	page := storedPage{life: u.life(), memo: pageMemo{uploadHead: head}}
	if err := u.to.pages.writePage(ctx, headOf(u.uploads()), page); err != nil {
		return err
	}
	u.begun, u.latest = true, head.latest()
	err = u.signal(ctx, workflows.SignalStored, nil)
	if code := wire.CodeOf(err); code == wire.AlreadyFinished || code == wire.Overtaken { // no other call deletes it
		_ = u.to.pages.deletePage(ctx, headOf(u.uploads()))
	}
	return err
}

// confirmLatest refuses a step of an upload after another one has begun.
func (u *Upload) confirmLatest(ctx context.Context) error {
	if !u.begun && len(u.resumed) == 0 {
		return nil
	}
	head, err := u.to.pages.head(ctx, u.uploads())
	if err != nil || head.latest() == u.latest {
		return err
	}
	return &wire.Error{Code: wire.Overtaken, State: &u.view, Message: "Another upload of the items has begun."}
}

// confirmCommitted refuses an upload if another one was committed. The dispatch deletes this
// upload's pages at its end, since the other upload may go on with them. Pages that no head
// names are deleted here.
func (u *Upload) confirmCommitted(ctx context.Context, committed dispatch.View) error {
	if committed.Memo.Upload == u.name {
		return nil
	}
	if !u.begun {
		_ = u.to.pages.deletePages(ctx, u.ownPart(), func() {}) // the rest expires
	}
	return &wire.Error{Code: wire.Overtaken, State: &committed, Message: "Another upload of the items was committed."}
}

// deleteUploads deletes the uploads of a dispatch that has ended.
func (p *Pages) deleteUploads(ctx context.Context, uploads string, beat func()) error {
	head, err := p.head(ctx, uploads)
	if err != nil || head.latest() == "" {
		return err
	}
	for _, part := range append(head.Parts, head.Earlier...) {
		if err := p.deletePages(ctx, part, beat); err != nil {
			return err
		}
	}
	return p.deletePage(ctx, headOf(uploads))
}

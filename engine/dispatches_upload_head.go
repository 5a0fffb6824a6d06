package engine

import (
	"context"
	"slices"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Each upload stores its pages under a name of its own, so that two of them at a time, or
// one that goes on after another was committed, never share a page. The head of a
// dispatch's uploads is a page without items that tells where those of the latest one are.

// uploadHead is what a head tells.
type uploadHead struct {
	// Parts are those of the latest upload, in order. Of the last one it is not known how
	// many pages it has: it is being stored.
	Parts []timer.DispatchPart `json:"parts,omitempty"`
	// Earlier are the parts of uploads that others have overtaken.
	Earlier []timer.DispatchPart `json:"earlier,omitempty"`
}

// uploadsOf is where all uploads of a dispatch are stored, and where the only one was
// before uploads had names.
func uploadsOf(key timer.Key) timer.DispatchPart {
	return timer.DispatchPart{Prefix: workflows.DispatchUploadPrefix(key)}
}

// headOf is the id of the head of uploads.
func headOf(uploads timer.DispatchPart) string { return uploads.Prefix + "head" }

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

// latest names what the latest upload is storing; "" for nothing.
func (h uploadHead) latest() string {
	if len(h.Parts) == 0 {
		return ""
	}
	return h.Parts[len(h.Parts)-1].Prefix
}

// head tells of the latest upload; nothing where none has a name.
func (d *Dispatches) head(ctx context.Context, uploads timer.DispatchPart) (uploadHead, error) {
	memo, err := d.pageSays(ctx, headOf(uploads))
	if timer.CodeOf(err) == timer.NotFound {
		return uploadHead{}, nil
	}
	return memo.uploadHead, err
}

// begin makes the upload the latest one. What the one before has stored is kept: it may be
// committed in this very moment.
func (u *Upload) begin(ctx context.Context) error {
	before, err := u.dispatches.head(ctx, uploadsOf(u.view.Key))
	if err != nil {
		return err
	}
	head := uploadHead{Parts: append(slices.Clone(u.resumed), u.own()), Earlier: before.Earlier}
	if len(u.resumed) == 0 {
		head.Earlier = append(head.Earlier, before.Parts...)
	}
	head.Earlier = head.Earlier[max(len(head.Earlier)-tuning.UploadsKnown, 0):] // the rest is not kept for ever
	page := storedPage{life: u.life(), memo: pageMemo{uploadHead: head}}
	if err := u.dispatches.writePage(ctx, headOf(uploadsOf(u.view.Key)), page); err != nil {
		return err
	}
	u.begun, u.latest = true, head.latest()
	return nil
}

// overtaken refuses what an upload does after another one has begun.
func (u *Upload) overtaken(ctx context.Context) error {
	if !u.begun && len(u.resumed) == 0 {
		return nil
	}
	head, err := u.dispatches.head(ctx, uploadsOf(u.view.Key))
	if err != nil || head.latest() == u.latest {
		return err
	}
	return &timer.Error{Code: timer.Overtaken, Dispatch: &u.view, Message: "Another upload of the items has begun."}
}

// settle clears away what nobody needs any more once an upload is committed: those that
// came to nothing, this one among them where it is another one that was.
func (u *Upload) settle(ctx context.Context, committed timer.DispatchView) error {
	if lost := committed.Memo.Upload != "" && committed.Memo.Upload != u.name; lost {
		_ = u.dispatches.deletePages(ctx, u.own(), func() {}) // what is left is not kept for ever
		return &timer.Error{Code: timer.Overtaken, Dispatch: &committed, Message: "Another upload of the items was committed."}
	}
	if !u.begun && len(u.resumed) == 0 {
		return nil
	}
	uploads := uploadsOf(u.view.Key)
	if head, err := u.dispatches.head(ctx, uploads); err == nil && head.latest() == u.latest {
		_ = u.dispatches.deleteHead(ctx, uploads, uploadHead{Earlier: head.Earlier}, func() {})
	}
	return nil
}

// deleteUploads deletes uploads of which none was completed.
func (d *Dispatches) deleteUploads(ctx context.Context, uploads timer.DispatchPart, beat func()) error {
	head, err := d.head(ctx, uploads)
	if err != nil || head.latest() == "" {
		return err
	}
	return d.deleteHead(ctx, uploads, head, beat)
}

// deleteHead deletes what a head names, and then the head itself.
func (d *Dispatches) deleteHead(ctx context.Context, uploads timer.DispatchPart, head uploadHead, beat func()) error {
	for _, part := range append(slices.Clone(head.Parts), head.Earlier...) {
		if err := d.deletePages(ctx, part, beat); err != nil {
			return err
		}
	}
	return d.deletePage(ctx, headOf(uploads))
}

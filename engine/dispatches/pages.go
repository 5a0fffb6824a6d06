package dispatches

import (
	"context"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Pages stores the items of dispatches, page by page.
type Pages struct{ kernel *kernel.Kernel }

// pageMemo is the memo of a page.
type pageMemo struct {
	// Items is the number of its items, and Through the number up to and including this page.
	Items   int `json:"items"`
	Through int `json:"through,omitzero"`
	uploadHead
}

// WritePage stores a page of items, and replaces one with the same id. It is kept for life
// at most. The error is [wire.Unavailable].
func (p *Pages) WritePage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error {
	return p.writePage(ctx, id, storedPage{Page: page, life: life, memo: pageMemo{Items: len(page.Items)}})
}

// AddPage is [Pages.WritePage] for a page that replaces none. The errors are [wire.AlreadyExists] and
// [wire.Unavailable].
func (p *Pages) AddPage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error {
	return p.writePage(ctx, id, storedPage{Page: page, life: life, memo: pageMemo{Items: len(page.Items)}, added: true})
}

// storedPage is a page with its lifetime and its memo.
type storedPage struct {
	dispatch.Page
	life time.Duration
	memo pageMemo
	// added reports whether it replaces no page.
	added bool
}

func (p *Pages) writePage(ctx context.Context, id string, page storedPage) error {
	return p.kernel.StoreBlob(ctx, kernel.Blob{
		ID: id, WorkflowType: workflows.TypeDispatchPage, Life: page.life, Memo: map[string]any{workflows.MemoItems: page.memo},
		New: page.added,
	}, converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingBinary)}, Data: page.Encode(),
	}))
}

// ReadPage reads a page of items. The errors are [wire.NotFound] and [wire.Unavailable].
func (p *Pages) ReadPage(ctx context.Context, id string) (dispatch.Page, error) {
	stored, err := p.kernel.ReadBlob(ctx, id)
	if err != nil {
		return dispatch.Page{}, err
	}
	return dispatch.DecodePage(stored.GetData())
}

// readMemo returns the memo of a page; NotFound if the page is missing.
func (p *Pages) readMemo(ctx context.Context, id string) (memo pageMemo, err error) {
	described, err := p.kernel.Describe(ctx, id, "")
	if err != nil {
		return memo, err
	}
	return memo, kernel.ReadMemo(described.GetWorkflowExecutionInfo(), workflows.MemoItems, "page", &memo)
}

// findMemo is readMemo for a page that may be missing.
func (p *Pages) findMemo(ctx context.Context, id string) (memo pageMemo, stored bool, err error) {
	memo, err = p.readMemo(ctx, id)
	if wire.CodeOf(err) == wire.NotFound {
		return pageMemo{}, false, nil
	}
	return memo, err == nil, err
}

// CleanUp deletes pages, and ends others. It calls beat between its steps. The error is
// [wire.Unavailable].
func (p *Pages) CleanUp(ctx context.Context, sweep dispatch.Cleanup, beat func()) error {
	for _, part := range sweep.Delete {
		if err := p.deletePages(ctx, part, beat); err != nil {
			return err
		}
	}
	if sweep.Uploads != "" {
		if err := p.deleteUploads(ctx, sweep.Uploads, beat); err != nil {
			return err
		}
	}
	for _, part := range sweep.Close {
		if err := p.eachStored(ctx, part, beat, p.endPage); err != nil {
			return err
		}
	}
	return nil
}

// eachStored visits each page of a part, and the pages behind it that an upload has left.
func (p *Pages) eachStored(ctx context.Context, part dispatch.Part, beat func(), visit func(context.Context, string) error) error {
	for from := 0; ; from += tuning.SweepWidth {
		stored, err := visitPages(ctx, part, from, visit)
		if err != nil {
			return err
		}
		beat()
		if !stored && from+tuning.SweepWidth > part.Pages {
			return nil
		}
	}
}

// visitPages visits [tuning.SweepWidth] pages of a part at once. stored reports whether there is
// any of them.
func visitPages(ctx context.Context, part dispatch.Part, from int, visit func(context.Context, string) error) (stored bool, err error) {
	var visited atomic.Bool
	var group errgroup.Group
	for number := from; number < from+tuning.SweepWidth; number++ {
		group.Go(func() error {
			err := visit(ctx, part.Page(number))
			if err == nil {
				visited.Store(true)
			}
			if wire.CodeOf(err) == wire.NotFound {
				return nil
			}
			return err
		})
	}
	err = group.Wait()
	return visited.Load(), err
}

func (p *Pages) deletePages(ctx context.Context, part dispatch.Part, beat func()) error {
	return p.eachStored(ctx, part, beat, p.deletePage)
}

func (p *Pages) deletePage(ctx context.Context, id string) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_, err := p.kernel.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: p.kernel.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
	})
	return kernel.Translate(err)
}

func (p *Pages) endPage(ctx context.Context, id string) error {
	return p.kernel.EndBlob(ctx, id, "the dispatch has ended")
}

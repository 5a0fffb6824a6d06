package dispatch

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// PutBack lists a shard's remaining items with the given-up ones, and returns the shard's
// progress after that. Carried out again, it stores the same pages.
func (e *Executor) PutBack(ctx context.Context, shard dispatch.Shard) (dispatch.State, error) {
	p := putBack{Executor: e, ctx: ctx, shard: shard, state: shard.State, room: tuning.DispatchPage}
	for _, part := range []func() error{p.putOpenPages, p.putLadder, p.putUnread, p.store} {
		if err := part(); err != nil {
			return shard.State, err
		}
	}
	p.state.Retrying, p.state.InFlight = 0, 0
	p.state.Found = max(p.state.Found, p.state.Done+p.state.Failed)
	return p.state, nil
}

type putBack struct {
	*Executor
	ctx   context.Context
	shard dispatch.Shard
	state dispatch.State
	items []dispatch.Item
	room  dispatch.Room
}

// putOpenPages puts back the rest of the open pages.
func (p *putBack) putOpenPages() error {
	for _, was := range p.shard.State.Open {
		items, err := p.read(was)
		if err != nil {
			return err
		}
		page := open(was, items)
		for i, item := range page.items {
			if !page.resolved[i] {
				if err := p.putItem(item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// putLadder puts back what waits on the ladder.
func (p *putBack) putLadder() error {
	for made, queue := range p.shard.State.Ladder {
		for number := queue.Head; number < queue.Tail; number++ {
			items, err := p.read(dispatch.Open{Attempts: made, Page: number})
			if err == nil {
				err = p.putItems(items)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// putUnread puts back the unread items.
func (p *putBack) putUnread() error {
	source := p.shard.Source
	at := dispatch.Open{Page: max(p.state.Page, source.First), Base: p.state.Base}
	pages := 0
	for _, part := range source.Parts {
		pages += part.Pages
	}
	for ; at.Base < source.Items && at.Page < pages; at.Page++ {
		items, err := p.read(at)
		if err == nil {
			err = p.putItems(items)
		}
		if err != nil {
			return err
		}
		at.Base += len(items)
	}
	return nil
}

// read reads a page. A missing page has no items.
func (p *putBack) read(at dispatch.Open) (items []dispatch.Item, err error) {
	activity.RecordHeartbeat(p.ctx)
	if at.Attempts > 0 {
		var stored dispatch.Page
		stored, err = p.Store.ReadPage(p.ctx, dispatch.Ladder(p.shard.Stored, at.Attempts).Page(at.Page))
		items = stored.Items
	} else {
		var read batch
		read, err = p.readStored(p.ctx, p.shard.Source, at)
		items = read.items
	}
	if wire.CodeOf(err) == wire.NotFound {
		return nil, nil
	}
	return items, err
}

func (p *putBack) putItems(items []dispatch.Item) error {
	for _, item := range items {
		if err := p.putItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (p *putBack) putItem(item dispatch.Item) error {
	if !p.room.Reserve(item) {
		if err := p.store(); err != nil {
			return err
		}
		p.room.Reserve(item)
	}
	p.items = append(p.items, item)
	return nil
}

// store stores the items put back, as the next of the given-up pages.
func (p *putBack) store() error {
	if len(p.items) == 0 {
		return nil
	}
	activity.RecordHeartbeat(p.ctx)
	id := dispatch.GivenUp(p.shard.Stored).Page(p.state.GivenUp)
	if err := p.Store.WritePage(p.ctx, id, dispatch.Page{Items: p.items}, dispatch.MaxLife); err != nil {
		return err
	}
	p.state.GivenUp, p.state.Failed = p.state.GivenUp+1, p.state.Failed+len(p.items)
	p.items, p.room = nil, tuning.DispatchPage
	return nil
}

package dispatches

import (
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// memoCache caches the memos of dispatches for a moment: the shards of one dispatch in one
// process cost one read.
type memoCache struct {
	reads singleflight.Group

	mu      sync.Mutex
	entries map[wire.Key]cachedMemo
}

type cachedMemo struct {
	memo dispatch.Memo
	err  error
	// began is when it was read, and until how long it is trusted.
	began, until time.Time
}

func newMemoCache() *memoCache { return &memoCache{entries: map[wire.Key]cachedMemo{}} }

// get returns a memo that was read after since. An earlier one may be of another dispatch: the id
// may have been free for a moment.
func (c *memoCache) get(key wire.Key, since time.Time, read func() (dispatch.Memo, error)) (dispatch.Memo, error) {
	entry, ok := c.known(key)
	for !ok || entry.began.Before(since) {
		result, _, _ := c.reads.Do(key.String(), func() (any, error) {
			fresh := cachedMemo{began: time.Now()}
			fresh.memo, fresh.err = read()
			fresh.until = time.Now().Add(tuning.MemoTrusted)
			c.put(key, fresh)
			return fresh, nil
		})
		entry, ok = result.(cachedMemo), true
	}
	return entry.memo, entry.err
}

func (c *memoCache) known(key wire.Key) (cachedMemo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[key]
	return entry, ok && time.Now().Before(entry.until)
}

// put stores a memo, and drops entries that were not read since.
func (c *memoCache) put(key wire.Key, entry cachedMemo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, old := range c.entries {
		if time.Now().After(old.until) {
			delete(c.entries, other)
		}
	}
	c.entries[key] = entry
}

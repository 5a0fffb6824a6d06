package engine

import (
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// memoCache keeps what dispatches say of themselves for a moment: the shards of one
// dispatch in one process cost one read.
type memoCache struct {
	reads singleflight.Group

	mu      sync.Mutex
	entries map[timer.Key]cachedMemo
}

type cachedMemo struct {
	memo  timer.DispatchMemo
	err   error
	until time.Time
}

func newMemoCache() *memoCache { return &memoCache{entries: map[timer.Key]cachedMemo{}} }

func (c *memoCache) get(key timer.Key, read func() (timer.DispatchMemo, error)) (timer.DispatchMemo, error) {
	if entry, ok := c.known(key); ok {
		return entry.memo, entry.err
	}
	result, err, _ := c.reads.Do(key.String(), func() (any, error) {
		memo, err := read()
		c.keep(key, cachedMemo{memo: memo, err: err, until: time.Now().Add(tuning.MemoTrusted)})
		return memo, err
	})
	return result.(timer.DispatchMemo), err
}

func (c *memoCache) known(key timer.Key) (cachedMemo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[key]
	return entry, ok && time.Now().Before(entry.until)
}

// keep remembers what was read, and forgets what nobody has asked for since.
func (c *memoCache) keep(key timer.Key, entry cachedMemo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, old := range c.entries {
		if time.Now().After(old.until) {
			delete(c.entries, other)
		}
	}
	c.entries[key] = entry
}

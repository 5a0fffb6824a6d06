package site

import (
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/tuning"
)

// memory has the last answers of the API, for pages that get none now. It is safe for concurrent use.
type memory struct {
	asking singleflight.Group

	mu   sync.Mutex
	kept map[string]known
	size int
}

// known is an answer, and when it was given. changes is the number of changes that had been made here.
type known struct {
	*calls.Answer
	at      time.Time
	changes int
}

// bytes is about what an answer takes.
func (k known) bytes() int { return k.Body.Len() + tuning.KeptOverhead }

func newMemory() *memory { return &memory{kept: map[string]known{}} }

// put keeps an answer in place of the last one. The oldest answers give way.
func (m *memory) put(key string, answer known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(key)
	m.kept[key] = answer
	for m.size += answer.bytes(); m.size > tuning.KeptBytes; {
		m.drop(m.oldest())
	}
}

func (m *memory) drop(key string) {
	if old, ok := m.kept[key]; ok {
		m.size -= old.bytes()
		delete(m.kept, key)
	}
}

func (m *memory) oldest() (oldest string) {
	first := true
	for key, one := range m.kept {
		if first || one.at.Before(m.kept[oldest].at) {
			oldest, first = key, false
		}
	}
	return oldest
}

func (m *memory) get(key string) (known, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer, ok := m.kept[key]
	return answer, ok
}

package dispatch

import (
	"hash/fnv"

	"github.com/wakecall/wakecall/core/dispatch"
)

// page is an open page: some of its items have still to be dealt with.
type page struct {
	dispatch.Open
	items []dispatch.Item
	// dealt is set for each item that was dealt with, and left counts the others.
	dealt []bool
	left  int
	// unsent is the first item that was not sent by this executor.
	unsent int
	// again are items that were sent without an answer.
	again []span
}

// open is a page as it was, or is read for the first time. One that is another page by
// now is gone through as a whole.
func open(was dispatch.Open, items []dispatch.Item) *page {
	p := &page{Open: was, items: items, dealt: make([]bool, len(items)), left: len(items)}
	sum := sumOf(items)
	if p.Sum != sum || p.Size != len(items) {
		p.Next, p.Ahead = 0, nil
	}
	p.Sum, p.Size = sum, len(items)
	for i := range items {
		if i < p.Next || p.ahead(i) {
			p.dealt[i] = true
			p.left--
		}
	}
	p.skipDealt()
	return p
}

// ahead reports whether an item behind the next one was dealt with, when the page was stored.
func (p *page) ahead(i int) bool {
	bit := i - p.Next
	return bit >= 0 && bit/8 < len(p.Ahead) && p.Ahead[bit/8]&(1<<(bit%8)) != 0
}

// skipDealt moves unsent to an item that was not dealt with.
func (p *page) skipDealt() {
	for p.unsent < len(p.items) && p.dealt[p.unsent] {
		p.unsent++
	}
}

// takeItems takes up to n items that were not sent, one after another, those that are sent again
// first. No two of them have one id: the receiver names an item by it.
func (p *page) takeItems(n int) (from, to int) {
	if from, to, again := p.takeAgain(); again {
		return from, to
	}
	from = p.unsent
	taken := make(map[string]bool, min(n, len(p.items)-from))
	for to = from; to < len(p.items) && to-from < n && !p.dealt[to] && !taken[p.items[to].ID]; to++ {
		taken[p.items[to].ID] = true
	}
	p.unsent = to
	p.skipDealt()
	return from, to
}

// markDealt notes that an item was dealt with.
func (p *page) markDealt(i int) {
	p.dealt[i] = true
	p.left--
}

// state is how far the page is.
func (p *page) state() dispatch.Open {
	s := p.Open
	for s.Next < len(p.items) && p.dealt[s.Next] {
		s.Next++
	}
	s.Ahead = nil
	for i := len(p.items) - 1; i >= s.Next; i-- {
		if !p.dealt[i] {
			continue
		}
		bit := i - s.Next
		if s.Ahead == nil {
			s.Ahead = make([]byte, bit/8+1)
		}
		s.Ahead[bit/8] |= 1 << (bit % 8)
	}
	return s
}

// span is items of a page that follow one another.
type span struct{ from, to int }

// more reports whether a page has items to be sent.
func (p *page) more() bool { return len(p.again) > 0 || p.unsent < len(p.items) }

// takeAgain takes items that were sent already, if there are some to be sent again.
func (p *page) takeAgain() (from, to int, ok bool) {
	if len(p.again) == 0 {
		return 0, 0, false
	}
	first := p.again[0]
	p.again = p.again[1:]
	return first.from, first.to, true
}

// reopen adds a page as it was, unless all of it was dealt with.
func reopen(pages []*page, was dispatch.Open, items []dispatch.Item) []*page {
	if p := open(was, items); p.left > 0 {
		return append(pages, p)
	}
	return pages
}

// sumOf tells a page from another one, by the ids of its items.
func sumOf(items []dispatch.Item) uint64 {
	hash := fnv.New64a()
	for _, item := range items {
		_, _ = hash.Write([]byte(item.ID))
		_, _ = hash.Write([]byte{0})
	}
	return hash.Sum64()
}

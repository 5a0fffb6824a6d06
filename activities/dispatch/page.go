package dispatch

import (
	"hash/fnv"

	"github.com/wakecall/wakecall/core/dispatch"
)

// page is an open page: some of its items are not resolved yet.
type page struct {
	dispatch.Open
	items []dispatch.Item
	// resolved is set for each item whose outcome is stored, and left counts the others.
	resolved []bool
	left     int
	// unsent is the first item that this executor has not sent.
	unsent int
	// unanswered are items that were sent without an answer.
	unanswered []span
}

// open opens a page, in its stored state or for the first time. If its content has changed,
// all of its items count as open.
func open(was dispatch.Open, items []dispatch.Item) *page {
	p := &page{Open: was, items: items, resolved: make([]bool, len(items)), left: len(items)}
	sum := sumOf(items)
	if p.Sum != sum || p.Size != len(items) {
		p.Next, p.Ahead = 0, nil
	}
	p.Sum, p.Size = sum, len(items)
	for i := range items {
		if i < p.Next || p.ahead(i) {
			p.resolved[i] = true
			p.left--
		}
	}
	p.skipResolved()
	return p
}

// ahead reports whether an item after the next one was resolved when the page was stored.
func (p *page) ahead(i int) bool {
	bit := i - p.Next
	return bit >= 0 && bit/8 < len(p.Ahead) && p.Ahead[bit/8]&(1<<(bit%8)) != 0
}

// skipResolved moves unsent to an item that is not resolved.
func (p *page) skipResolved() {
	for p.unsent < len(p.items) && p.resolved[p.unsent] {
		p.unsent++
	}
}

// takeItems takes up to n consecutive unsent items, starting with those to send again. No
// two of them share an id: the receiver names an item by it.
func (p *page) takeItems(n int) (from, to int) {
	if from, to, again := p.takeUnanswered(); again {
		return from, to
	}
	from = p.unsent
	taken := make(map[string]bool, min(n, len(p.items)-from))
	for to = from; to < len(p.items) && to-from < n && !p.resolved[to] && !taken[p.items[to].ID]; to++ {
		taken[p.items[to].ID] = true
	}
	p.unsent = to
	p.skipResolved()
	return from, to
}

// markResolved records that an item is resolved.
func (p *page) markResolved(i int) {
	p.resolved[i] = true
	p.left--
}

// state is the page's progress.
func (p *page) state() dispatch.Open {
	s := p.Open
	for s.Next < len(p.items) && p.resolved[s.Next] {
		s.Next++
	}
	s.Ahead = nil
	for i := len(p.items) - 1; i >= s.Next; i-- {
		if !p.resolved[i] {
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

// span is a range of consecutive items of a page.
type span struct{ from, to int }

// more reports whether a page has items to send.
func (p *page) more() bool { return len(p.unanswered) > 0 || p.unsent < len(p.items) }

// takeUnanswered takes items that must be sent again, if there are any.
func (p *page) takeUnanswered() (from, to int, ok bool) {
	if len(p.unanswered) == 0 {
		return 0, 0, false
	}
	first := p.unanswered[0]
	p.unanswered = p.unanswered[1:]
	return first.from, first.to, true
}

// reopen adds a page in its stored state, unless all of it was resolved.
func reopen(pages []*page, was dispatch.Open, items []dispatch.Item) []*page {
	if p := open(was, items); p.left > 0 {
		return append(pages, p)
	}
	return pages
}

// sumOf distinguishes pages by the ids of their items.
func sumOf(items []dispatch.Item) uint64 {
	hash := fnv.New64a()
	for _, item := range items {
		_, _ = hash.Write([]byte(item.ID))
		_, _ = hash.Write([]byte{0})
	}
	return hash.Sum64()
}

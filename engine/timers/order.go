package timers

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Visibility of a SQL database sorts by when a run ended and began, and by nothing else.
// So a list by due time goes through windows of time that hold about a page each: a count
// tells how wide the next one may be, and its timers are sorted here.

// cursor is how far a sorted list has come. It is the token of a page.
type cursor struct {
	// At is the end of the time that has been listed: in the order of the due times the
	// first moment that has not, and otherwise the last one that has.
	At wire.Instant `json:"at"`
	// After is the timer of the moment beside At that was listed last; "" where none was.
	After string `json:"after,omitzero"`
	// Width is how wide the last window was.
	Width time.Duration `json:"width"`
	// Within, where it is set, is visibility's own token of a page of one moment, at
	// which more fall due than one page holds. They are not sorted.
	Within []byte `json:"within,omitempty"`
}

// order lists timers in the order of their due times.
type order struct {
	lister *Lister
	PageRequest
	cursor
	// from and to bound the due times, to excluded.
	from, to wire.Instant
	// now parts what is over from what is ahead.
	now wire.Instant
	// dense is the far end of a window that held too much; 0 where there was none.
	dense wire.Instant
	found []timer.View
}

// sortedPage is a page in the order of the due times.
func (l *Lister) sortedPage(ctx context.Context, r PageRequest) (Page, error) {
	now := wire.At(time.Now())
	s := &order{lister: l, PageRequest: r, from: visibility.EarliestDue, to: now.Add(2 * wire.MaxAhead), now: now, found: []timer.View{}}
	if r.Filter.DueFrom != 0 {
		s.from = r.Filter.DueFrom
	}
	if r.Filter.DueTo != 0 {
		s.to = r.Filter.DueTo.Add(time.Millisecond)
	}
	s.cursor = cursor{At: s.from, Width: tuning.FirstWindow}
	if s.descending() {
		s.At = s.to
	}
	if len(r.Token) > 0 && json.Unmarshal(r.Token, &s.cursor) != nil {
		return Page{}, wire.FieldErrors{{Pointer: "page_token", Code: wire.CodeInvalidParameter, Detail: "is not one of ours"}}.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
	defer cancel()
	for range tuning.WindowsPerPage {
		if s.isDone() || len(s.found) >= r.Size {
			break
		}
		if err := s.step(ctx); err != nil {
			return Page{}, err
		}
	}
	return s.page()
}

func (s *order) descending() bool { return s.Sort == timer.DueLast }

func (s *order) isDone() bool {
	if s.descending() {
		return s.At <= s.from
	}
	return s.At >= s.to
}

// window is the time that is looked at next; end is excluded.
func (s *order) window() (begin, end wire.Instant) {
	if s.descending() {
		return max(s.At.Add(-s.Width), s.from), s.At
	}
	end = min(s.At.Add(s.Width), s.to)
	if s.At < s.now && end > s.now { // most timers are ahead
		end = s.now
	}
	return s.At, end
}

// step lists the next window, or makes it wider or narrower.
func (s *order) step(ctx context.Context) error {
	begin, end := s.window()
	if len(s.Within) > 0 {
		return s.listMoment(ctx, begin, end)
	}
	n, err := s.lister.kernel.Count(ctx, s.dueWithin(begin, end))
	most := min(max(2*s.Size, tuning.LeastWindow), tuning.MaxListed-1) // a full page of visibility's has a token, also where it is the last
	switch {
	case err != nil:
		return err
	case n == 0:
		s.advance(begin, end)
		s.grow()
		return nil
	case n > most && end > begin.Add(time.Millisecond):
		s.shrink(begin, end, float64(most)/float64(n)/2)
		return nil
	case n > most:
		return s.listMoment(ctx, begin, end)
	}
	if n < most/4 {
		defer func() { s.Width = min(s.Width*2, wire.MaxAhead) }()
	}
	return s.sort(ctx, begin, end)
}

// shrink makes a window narrower that held too much: as if all were spread evenly, and by
// half at least. They may as well lie close together, so it goes on in parts of it: what is
// empty is counted at once, and what is not takes as long as there are timers in it.
func (s *order) shrink(begin, end wire.Instant, by float64) {
	width := end.Time().Sub(begin.Time())
	width = max(min(time.Duration(float64(width)*by), width/2), width/tuning.WindowParts)
	s.Width = max(width.Truncate(time.Millisecond), time.Millisecond)
	s.dense = end
	if s.descending() {
		s.dense = begin
	}
}

// grow makes the next window wider than one that was empty, unless it is known that there
// is too much ahead.
func (s *order) grow() {
	passed := s.At >= s.dense
	if s.descending() {
		passed = s.At <= s.dense
	}
	if passed || s.dense == 0 {
		s.Width = min(s.Width*tuning.WindowGrowth, wire.MaxAhead)
	}
}

// advance notes that a window has been listed.
func (s *order) advance(begin, end wire.Instant) {
	s.At, s.After, s.Within = end, "", nil
	if s.descending() {
		s.At = begin
	} else if end == s.now {
		s.Width = tuning.FirstWindow
	}
}

func (s *order) dueWithin(begin, end wire.Instant) query.Query {
	filter := s.Filter
	filter.DueFrom, filter.DueTo = 0, 0
	return query.All(QueryOf(filter), visibility.DueAt.From(begin), visibility.DueAt.Before(end))
}

// sort adds what falls due within a window.
func (s *order) sort(ctx context.Context, begin, end wire.Instant) error {
	response, err := s.lister.kernel.List(ctx, s.dueWithin(begin, end), tuning.MaxListed, nil)
	if err != nil {
		return err
	}
	if len(response.GetNextPageToken()) > 0 { // more were booked since they were counted
		if end <= begin.Add(time.Millisecond) {
			return s.listMoment(ctx, begin, end)
		}
		s.shrink(begin, end, 1)
		return nil
	}
	views := s.lister.admitted(ctx, s.Filter, response.GetExecutions())
	slices.SortFunc(views, s.compare)
	skipping := s.After
	for _, view := range views {
		if skipping != "" && s.listed(view, skipping) {
			continue
		}
		if len(s.found) == s.Size {
			s.resumeAfter(s.found[len(s.found)-1])
			return nil
		}
		s.found = append(s.found, view)
	}
	s.advance(begin, end)
	return nil
}

func (s *order) compare(a, b timer.View) int {
	order := cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(runKey(a), runKey(b)))
	if s.descending() {
		return -order
	}
	return order
}

// runKey tells the runs of one timer apart.
func runKey(view timer.View) string { return view.String() + "/" + view.RunID }

// listed reports whether a timer stood on the page before, which ended within its moment.
func (s *order) listed(view timer.View, last string) bool {
	if s.descending() {
		return view.DueAt == s.At-1 && runKey(view) >= last
	}
	return view.DueAt == s.At && runKey(view) <= last
}

// resumeAfter notes that the page is full, and with which timer.
func (s *order) resumeAfter(last timer.View) {
	s.At, s.After = last.DueAt, runKey(last)
	if s.descending() {
		s.At++
	}
}

// listMoment adds what falls due at one moment, a page of it.
func (s *order) listMoment(ctx context.Context, begin, end wire.Instant) error {
	response, err := s.lister.kernel.List(ctx, s.dueWithin(begin, end), s.Size-len(s.found), s.Within)
	if err != nil {
		return err
	}
	for _, view := range s.lister.admitted(ctx, s.Filter, response.GetExecutions()) {
		if s.After == "" || !s.listed(view, s.After) { // fewer were due then when the page before was sorted
			s.found = append(s.found, view)
		}
	}
	if s.Within = response.GetNextPageToken(); len(s.Within) == 0 {
		s.advance(begin, end)
	}
	return nil
}

func (s *order) page() (Page, error) {
	page := Page{Timers: s.found}
	if s.isDone() {
		return page, nil
	}
	var err error
	page.Next, err = json.Marshal(s.cursor)
	return page, err
}

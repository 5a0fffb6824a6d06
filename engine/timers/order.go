package timers

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Visibility of a SQL database sorts only by when a run ended and began. So a list by due
// time goes through windows of time that hold about a page each: a count sets the width of
// the next window, and its timers are sorted here.

// cursor is the progress of a sorted list. It is the token of a page.
type cursor struct {
	// At is the edge of the listed time: the first moment not listed in ascending order, the
	// last moment listed in descending order.
	At wire.Instant `json:"at"`
	// After is the last listed timer of the moment beside At; "" if there was none.
	After string `json:"after,omitzero"`
	// Width is the width of the last window.
	Width time.Duration `json:"width"`
	// Within, if set, is visibility's own token of a page of one moment that has more due
	// timers than one page holds. They are not sorted.
	Within []byte `json:"within,omitempty"`
}

// order lists timers in the order of their due times.
type order struct {
	lister *Lister
	PageRequest
	cursor
	// from and to bound the due times, to excluded.
	from, to wire.Instant
	// now separates past from future.
	now wire.Instant
	// dense is the far end of a window that held too much; 0 if there was none.
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
		return Page{}, kernel.ErrPageToken()
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

// window is the next window of time; end is excluded.
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
	most := min(max(2*s.Size, tuning.LeastWindow), tuning.MaxListed-1) // a full page of visibility's has a token, even the last one
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

// shrink narrows a window that held too much: as if all timers were spread evenly, and by
// half at least. They may also lie close together, so it goes on in parts of the window.
// Empty parts are counted at once, and the others take time for each timer.
func (s *order) shrink(begin, end wire.Instant, by float64) {
	width := end.Time().Sub(begin.Time())
	width = max(min(time.Duration(float64(width)*by), width/2), width/tuning.WindowParts)
	s.Width = max(width.Truncate(time.Millisecond), time.Millisecond)
	s.dense = end
	if s.descending() {
		s.dense = begin
	}
}

// grow widens the next window after an empty one, unless too much is known to be ahead.
func (s *order) grow() {
	passed := s.At >= s.dense
	if s.descending() {
		passed = s.At <= s.dense
	}
	if passed || s.dense == 0 {
		s.Width = min(s.Width*tuning.WindowGrowth, wire.MaxAhead)
	}
}

// advance records that a window has been listed.
func (s *order) advance(begin, end wire.Instant) {
	s.At, s.After, s.Within = end, "", nil
	if s.descending() {
		s.At = begin
	} else if end == s.now {
		s.Width = tuning.FirstWindow
	}
}

func (s *order) dueWithin(begin, end wire.Instant) query.Query {
	return dueIn(s.Filter, visibility.DueAt.From(begin), visibility.DueAt.Before(end))
}

// sort adds the timers due within a window.
func (s *order) sort(ctx context.Context, begin, end wire.Instant) error {
	response, err := s.lister.kernel.List(ctx, s.dueWithin(begin, end), tuning.MaxListed, nil)
	if err != nil {
		return err
	}
	if len(response.GetNextPageToken()) > 0 { // more were booked since the count
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

// runKey identifies one run of a timer.
func runKey(view timer.View) string { return view.String() + "/" + view.RunID }

// listed reports whether a timer was on the previous page, which ended within its moment.
func (s *order) listed(view timer.View, last string) bool {
	if s.descending() {
		return view.DueAt == s.At-1 && runKey(view) >= last
	}
	return view.DueAt == s.At && runKey(view) <= last
}

// resumeAfter records that the page is full, and its last timer.
func (s *order) resumeAfter(last timer.View) {
	s.At, s.After = last.DueAt, runKey(last)
	if s.descending() {
		s.At++
	}
}

// listMoment adds a page of the timers due at one moment.
func (s *order) listMoment(ctx context.Context, begin, end wire.Instant) error {
	response, err := s.lister.kernel.List(ctx, s.dueWithin(begin, end), s.Size-len(s.found), s.Within)
	if err != nil {
		return err
	}
	for _, view := range s.lister.admitted(ctx, s.Filter, response.GetExecutions()) {
		if s.After == "" || !s.listed(view, s.After) { // fewer were due then when the previous page was sorted
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

package watch

import (
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Watch looks at the whole installation, once for all visitors, and only while there are any.
type Watch struct {
	// look makes the next picture out of the last one, which it leaves as it is.
	look func(last *Picture) *Picture
	Pace
	now    func() time.Time
	asking singleflight.Group

	mu   sync.Mutex
	last *Picture
	// changes counts the changes that were made here: a look that began before one does not
	// show it.
	changes  int
	lookedAt int
}

// Shipped is the pace of the gateways that are shipped.
func Shipped() Pace {
	return Pace{
		Every: tuning.LookEvery, Seldom: tuning.LookSeldom, Counts: tuning.LookCounts, Question: tuning.LookQuestion,
		Ahead: tuning.LookAhead, Wait: tuning.LookWait, Briefly: tuning.LookBriefly, Recent: tuning.LookRecent, Old: tuning.LookOld,
	}
}

// New returns a watch that makes its calls by a sender.
func New(api calls.Sender, pace Pace, now func() time.Time) *Watch {
	w := &Watch{Pace: pace, now: now}
	w.look = func(last *Picture) *Picture {
		l := &looker{api: api, pace: pace, first: w.showFirst}
		return l.look(last, now())
	}
	return w
}

// showFirst shows what the first look has found so far: what it still counts may take seconds.
func (w *Watch) showFirst(found Picture) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = &found
	}
}

// Pace is how often a console looks.
type Pace struct {
	// Every is how old what is shown may be; 0 to look for each page.
	Every time.Duration
	// Seldom is how old what changes seldom may be; 0 to read it with each look.
	Seldom time.Duration
	// Counts is the least time between two counts of all timers, and Question how long they rest for each
	// question that they cost; 0 to count with each look.
	Counts, Question time.Duration
	// Ahead is how long the time ahead rests for each business type.
	Ahead time.Duration
	// Wait bounds how long a page waits for a look, and Briefly where the last one shows every change that was
	// made here, and is younger than Recent.
	Wait, Briefly, Recent time.Duration
	// Old is from what age on a page waits for the next look, and says from when its own is; 0 for always
	// and never.
	Old time.Duration
}

// Picture is the installation as it is known. Who sees how much of it is for [Picture.SeenBy].
func (w *Watch) Picture(ctx context.Context) *Picture {
	last, changes, age := w.known()
	if age < w.Every {
		return last
	}
	looked := w.asking.DoChan(key(changes), func() (any, error) { return w.refresh(last, changes), nil })
	patience := w.Wait
	switch {
	case age < w.Old:
		return last
	case age < w.Recent:
		patience = w.Briefly
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case result := <-looked:
		return result.Val.(*Picture)
	case <-wait.Done():
		return w.Last()
	}
}

// IsOld reports whether a page says from when its picture is: it is of a while ago, or of before a change that was made
// here.
func (w *Watch) IsOld(p *Picture) bool {
	if w.Old == 0 || p.At.IsZero() {
		return false
	}
	_, _, age := w.known()
	return age == unending || w.now().Sub(p.At) >= max(w.Old, w.Every)
}

// Last is the last picture, however old it is. Before the first look has ended it is [Picture.Unseen].
func (w *Watch) Last() *Picture {
	if last, _, _ := w.known(); last != nil {
		return last
	}
	away := allAway()
	delete(away, PartEngine)
	return &Picture{Answers: Answers{Away: away}}
}

// unending is the age of a picture that lacks a change.
const unending = time.Duration(math.MaxInt64)

// known returns the last picture and its age, which is [unending] if a change was made here since.
func (w *Watch) known() (last *Picture, changes int, age time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || w.lookedAt != w.changes {
		return w.last, w.changes, unending
	}
	return w.last, w.changes, w.now().Sub(w.last.At)
}

func (w *Watch) refresh(last *Picture, changes int) *Picture {
	if last == nil {
		last = &Picture{}
	}
	if known, _, age := w.known(); age < w.Every { // the look before has ended since it was asked for
		return known
	}
	next := w.look(w.beforeChanges(last, changes))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.lookedAt = next, changes
	return next
}

// beforeChanges is a picture that is counted anew if something was changed here since it was made.
func (w *Watch) beforeChanges(last *Picture, changes int) *Picture {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lookedAt == changes {
		return last
	}
	old := *last
	old.SeldomAt, old.CountedAt, old.AheadAt = time.Time{}, time.Time{}, time.Time{}
	return &old
}

// Changed has the next page wait for another look.
func (w *Watch) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
}

// Changes are how many changes were made here.
func (w *Watch) Changes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

// key names the looks that show the same changes.
func key(changes int) string { return strconv.Itoa(changes) }

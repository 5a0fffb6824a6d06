package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// walk plays possible events of a recurring timer, and checks its numbers against the promises.
type walk struct {
	spec timer.Spec
	now  wire.Instant
	// delivering reports whether a delivery is in progress, and over whether the rule has ended.
	delivering, over bool

	ids   map[int]string // the webhook-id of each number seen
	ended map[int]bool
	// ruled counts the ended occurrences of the rule, of which most are allowed.
	ruled, most int
	// asked counts the accepted requests for rings, and extra the rings made.
	asked, extra int
}

// events are all possible events, by name.
var events = map[string]func(w *walk) error{
	"time":  func(w *walk) error { w.now = w.now.Add(10 * time.Minute); return nil },
	"begin": (*walk).begin,
	"end":   (*walk).end,
	"stop": func(w *walk) error {
		if w.delivering {
			w.spec.Memo = w.spec.EndRule()
		}
		return w.end()
	},
	"fire": func(w *walk) error { return w.change(timer.Change{Ring: true}) },
	"once": func(w *walk) error {
		return w.change(timer.Change{Replace: true, Terms: timer.Terms{DueAt: ptr(w.now.Add(time.Hour))}})
	},
	"pause":  func(w *walk) error { return w.change(timer.Change{Pause: &timer.Pause{Stop: true}}) },
	"resume": func(w *walk) error { return w.change(timer.Change{Pause: &timer.Pause{}}) },
	"same": func(w *walk) error {
		rule := w.spec.Series.Rule
		rule.MaxOccurrences, rule.Paused = ptr(3), w.spec.Series.Paused
		return w.change(timer.Change{Terms: timer.Terms{Recurrence: &rule}})
	},
	"refused": func(w *walk) error {
		return w.change(timer.Change{Ring: true, IfMatch: "another"})
	},
	"other": func(w *walk) error {
		every := wire.Duration(15 * time.Minute)
		if !w.over {
			w.most = w.ruled + 4 // a due one, beside the three of the new rule
		}
		return w.change(timer.Change{Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: &every, MaxOccurrences: ptr(3)}}})
	},
	"labels": func(w *walk) error { return w.change(timer.Change{Terms: timer.Terms{Priority: ptr(1)}}) },
}

func (w *walk) begin() error {
	if w.over || w.delivering || w.spec.Resting() || w.spec.RingsAt() > w.now {
		return nil
	}
	w.delivering = true
	return w.see(w.spec.Memo)
}

// see records that a number is delivered under an id.
func (w *walk) see(m timer.Memo) error {
	number, id := m.Series.Number, m.WebhookID(ranking)
	for other, known := range w.ids {
		if known == id && other != number {
			return fmt.Errorf("numbers %d and %d share an id", other, number)
		}
	}
	switch before, seen := w.ids[number]; {
	case seen && before != id:
		return fmt.Errorf("number %d has two ids", number)
	case w.ended[number]:
		return fmt.Errorf("number %d begins again after its end", number)
	}
	w.ids[number] = id
	return nil
}

func (w *walk) end() error {
	if !w.delivering {
		return nil
	}
	if err := w.finish(w.spec.Series.Number, !w.spec.Series.Extra); err != nil {
		return err
	}
	if w.spec.Series.Extra {
		w.extra++
	}
	memo, ok := w.spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, w.now)
	w.spec.Memo, w.delivering, w.over = memo.BeginRun(), false, !ok
	return w.rang()
}

// rang checks that an ended timer has made the requested rings.
func (w *walk) rang() error {
	if w.over && w.extra < w.asked {
		return fmt.Errorf("%d rings were asked for, and %d made", w.asked, w.extra)
	}
	return nil
}

func (w *walk) finish(number int, ruled bool) error {
	if w.ended[number] {
		return fmt.Errorf("number %d ends twice", number)
	}
	if w.ended[number] = true; ruled {
		w.ruled++
	}
	if w.ruled > w.most {
		return fmt.Errorf("%d rings of at most %d", w.ruled, w.most)
	}
	return nil
}

func (w *walk) change(c timer.Change) error {
	if w.over {
		return nil
	}
	c.At, c.Interrupts = w.now, w.delivering
	before := w.spec
	changed, err := before.Apply(c)
	if err != nil {
		return nil // a refusal did nothing
	}
	if c.Ring {
		w.asked++
	}
	if changed.Series == nil { // it has become another timer
		if w.over = true; w.delivering && before.Series.Extra {
			w.extra++
		}
		return w.rang()
	}
	if w.delivering && changed.Series.Began { // it was interrupted, and is recorded
		if last := changed.Series.Last; last.Status == timer.Cancelled {
			if err := w.finish(last.Occurrence, true); err != nil {
				return err
			}
		}
	}
	due := w.delivering || !before.Resting() && before.DueAt <= w.now
	w.delivering = w.delivering && before.SameOccurrence(changed.Memo)
	changed.Memo = changed.Memo.BeginRun()
	w.spec = changed
	if due && !w.kept(before) {
		return fmt.Errorf("number %d was due, and is gone without a word", before.Series.Number)
	}
	return nil
}

// kept reports whether an occurrence that was due is still to be delivered, or has ended.
func (w *walk) kept(before timer.Spec) bool {
	series := w.spec.Series
	return w.ended[before.Series.Number] || series.Number == before.Series.Number ||
		series.Interrupted != nil && series.Interrupted.Number == before.Series.Number
}

// For any events of a recurring timer in any order, a number stands for one delivery and one
// webhook-id and ends once, and no due occurrence is lost.
func TestNumbersOfARecurringTimer(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range events {
		names = append(names, name)
	}
	hour := wire.Duration(20 * time.Minute)
	booked := time.Unix(1_800_000_000, 0)
	first := recurring(t, recurrence.Rule{Every: &hour, MaxOccurrences: ptr(3)}, booked)
	length, paths := 5, 0
	var play func(path []string)
	play = func(path []string) {
		if len(path) < length {
			for _, name := range names {
				play(append(path[:len(path):len(path)], name))
			}
			return
		}
		w := &walk{spec: first, now: first.DueAt, ids: map[int]string{}, ended: map[int]bool{}, most: 3}
		for _, name := range path {
			if err := events[name](w); err != nil {
				t.Fatalf("%v: %v", path, err)
			}
		}
		paths++
	}
	play(nil)
	if paths < 30_000 {
		t.Fatal("the oracle sees paths")
	}
}

// An interrupted occurrence survives if the receiver stops the rule while the timer is paused:
// it rings after the resumption.
func TestWhatIsInterruptedOutlivesTheRule(t *testing.T) {
	t.Parallel()
	hour := wire.Duration(time.Hour)
	spec := recurring(t, recurrence.Rule{Every: &hour}, time.Unix(1_800_000_000, 0))
	now := spec.DueAt
	for _, change := range []timer.Change{{Ring: true, Interrupts: true}, {Pause: &timer.Pause{Stop: true}, Interrupts: true}} {
		change.At = now
		var err error
		if spec, err = spec.Apply(change); err != nil {
			t.Fatal(err)
		}
	}
	memo, ok := spec.EndRule().AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, now)
	if !ok || !memo.Resting() || memo.Series.Number != 1 {
		t.Fatalf("it rests: %v %+v", ok, memo.Series)
	}
	spec.Memo = memo.BeginRun()
	spec, err := spec.Apply(timer.Change{Pause: &timer.Pause{}, At: now})
	if err != nil || spec.Resting() || spec.Series.Number != 1 || spec.RingsAt() > now {
		t.Fatalf("it rings: %v %+v", err, spec.Series)
	}
	if _, ok = spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, now); ok {
		t.Fatal("and the timer ends")
	}
}

// The oracle detects a number that is used twice.
func TestTheWalkSeesANumberUsedTwice(t *testing.T) {
	t.Parallel()
	hour := wire.Duration(time.Hour)
	first := recurring(t, recurrence.Rule{Every: &hour}, time.Unix(1_800_000_000, 0))
	w := &walk{spec: first, now: first.DueAt, ids: map[int]string{}, ended: map[int]bool{}, most: 3}
	for _, step := range []func() error{w.begin, w.end} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	series := *w.spec.Series
	series.Number = 1
	w.spec.Series, w.now = &series, w.spec.DueAt
	if w.begin() == nil {
		t.Fatal("number 1 began again")
	}
}

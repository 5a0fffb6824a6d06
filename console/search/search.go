package search

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/words"
)

// Search is the text of the search box, as a query of the API's list.
type Search struct {
	Query url.Values
	// Word is a text without a qualifier: the id of a timer, or type/id.
	Word string
	// View is a set that takes several questions of the API, [Late] or [Held]; "" for none.
	View string
	// Wrong are the parts that are not understood.
	Wrong []string
}

// qualifiers are the qualifiers of a search, by the name before the colon.
var qualifiers = map[string]func(s *Search, value string, now time.Time) bool{
	"type":   func(s *Search, value string, _ time.Time) bool { return s.set("business_type", value) },
	"status": func(s *Search, value string, _ time.Time) bool { return s.set("status", value) },
	"label":  (*Search).label,
	"due":    func(s *Search, value string, now time.Time) bool { return s.between("due", value, now) },
	"ended":  func(s *Search, value string, now time.Time) bool { return s.between("ended", value, now) },
	"sort":   func(s *Search, value string, _ time.Time) bool { return s.set("sort", value) },
	"is":     func(s *Search, value string, _ time.Time) bool { return s.is(value) },
}

// The sets that no single question of the API finds. Late timers are overdue, or being delivered
// behind their time. Held ones are paused, by themselves or with their type.
const (
	Late = "late"
	Held = "held"
)

// recurring is the set of timers that ring more than once.
const recurring = "recurring"

// Parse reads words with spaces between them.
func Parse(text string, now time.Time) Search {
	s := Search{Query: url.Values{}}
	for part := range strings.FieldsSeq(text) {
		value, read := qualifierOf(part)
		word := unquoted(part)
		switch {
		case read != nil:
			if value == "" || !read(&s, value, now) {
				s.Wrong = append(s.Wrong, part)
			}
		case s.Word == "" && word != "":
			s.Word = word
		default:
			s.Wrong = append(s.Wrong, part)
		}
	}
	if s.View != "" && (s.Query.Has("status") || s.Query.Has("sort") || s.View == Late && s.Query.Has("due_to")) {
		s.Wrong = append(s.Wrong, "is:"+s.View) // it says so itself
	}
	return s
}

// qualifierOf reads a part as a qualifier; nil for none.
func qualifierOf(part string) (value string, read func(s *Search, value string, now time.Time) bool) {
	name, value, qualified := strings.Cut(part, ":")
	if !qualified {
		return "", nil
	}
	return unquoted(value), qualifiers[name]
}

const quote = `"`

// unquoted is a word without the quotes around it. No id has one, so a word in quotes is an id, also where
// it would else be a qualifier: who books timers may choose ids such as status:failed, and does not come
// between an operator and that search.
func unquoted(part string) string {
	if inner, ok := strings.CutPrefix(part, quote); ok {
		if inner, ok = strings.CutSuffix(inner, quote); ok {
			return inner
		}
	}
	return part
}

// Exactly is the search for an id.
func Exactly(id string) string {
	if _, read := qualifierOf(id); read != nil {
		return quote + id + quote
	}
	return id
}

// All is the search as the API's list takes it.
func (s Search) All() url.Values {
	query := maps.Clone(s.Query)
	if s.Word != "" {
		query.Set("business_id", s.Word)
	}
	return query
}

// set is for what may be said once.
func (s *Search) set(name, value string) bool {
	if s.Query.Has(name) {
		return false
	}
	s.Query.Set(name, value)
	return true
}

func (s *Search) is(value string) bool {
	switch {
	case value == recurring:
		return s.set(recurring, "true")
	case s.View == "" && (value == Late || value == Held):
		s.View = value
		return true
	default:
		return false
	}
}

func (s *Search) label(value string, _ time.Time) bool {
	s.Query.Add("label", value)
	return strings.Contains(value, "=")
}

// between reads a span of time: a day such as today or 2026-12-24, a duration such as 1h or 3d, or 03:00..03:10,
// in UTC. What is due lies ahead, and what has ended behind: then 03:00 is that of yesterday until it comes.
func (s *Search) between(name, value string, now time.Time) bool {
	from, to, ok := spanOf(value, now.UTC(), name == "ended")
	if !ok || s.Query.Has(name+"_from") || s.Query.Has(name+"_to") {
		return false
	}
	for side, at := range map[string]time.Time{"_from": from, "_to": to} {
		if !at.IsZero() {
			s.Query.Set(name+side, words.ISO(at))
		}
	}
	return true
}

func spanOf(value string, now time.Time, back bool) (from, to time.Time, ok bool) {
	if day, ok := dayOf(value, now.Truncate(words.Day)); ok {
		return day, day.Add(words.Day), true
	}
	if strings.Contains(value, "..") {
		return spanBetween(value, now, back)
	}
	span, ok := durationOf(value)
	if back {
		return now.Add(-span), now, ok
	}
	return now, now.Add(span), ok
}

// namedDays are the days with a name, counted from today.
var namedDays = map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}

// dayOf reads a day as the midnight that it begins with.
func dayOf(text string, midnight time.Time) (time.Time, bool) {
	if n, ok := namedDays[text]; ok {
		return midnight.Add(time.Duration(n) * words.Day), true
	}
	day, err := time.Parse(time.DateOnly, text)
	return day, err == nil
}

// durationOf reads a duration above zero, in Go's form or in days. A day has 24 hours.
func durationOf(value string) (time.Duration, bool) {
	if days, inDays := strings.CutSuffix(value, "d"); inDays {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * words.Day, err == nil && n > 0 //nolint:gosec // it has 16 bits
	}
	span, err := time.ParseDuration(value)
	return span, err == nil && span > 0
}

// spanBetween is from one time to another, or open on a side. Two times of day may pass midnight. They are then of
// the span that is under way or comes next, and back in time of the last one that has begun.
func spanBetween(value string, now time.Time, back bool) (from, to time.Time, ok bool) {
	midnight := now.Truncate(words.Day)
	from, to, ok = spanOn(value, midnight)
	first, last, _ := strings.Cut(value, "..")
	if !timeOfDay(first) && first != "" || !timeOfDay(last) && last != "" {
		return from, to, ok
	}
	earlier, until, _ := spanOn(value, midnight.Add(-words.Day))
	if back && from.After(now) || !back && until.After(now) {
		return earlier, until, ok
	}
	return from, to, ok
}

// spanOn is a span whose times of day are those of the day that begins with a midnight, or the last one of the next.
func spanOn(value string, midnight time.Time) (from, to time.Time, ok bool) {
	first, last, _ := strings.Cut(value, "..")
	from, begins := edgeOf(first, midnight, 0)
	to, ends := edgeOf(last, midnight, words.Day)
	if timeOfDay(first) && timeOfDay(last) && to.Before(from) {
		to = to.Add(words.Day)
	}
	return from, to, begins && ends && first+last != "" && (last == "" || from.Before(to))
}

// edgeOf is a side of a span: a moment, or a day from a distance after its midnight on. It is the zero time where the
// span is open.
func edgeOf(text string, midnight time.Time, after time.Duration) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	if day, ok := dayOf(text, midnight); ok {
		return day.Add(after), true
	}
	return MomentOf(text, midnight)
}

// timeOfDay reports whether a time names no date.
func timeOfDay(text string) bool {
	return len(text) <= len(time.TimeOnly) && strings.Contains(text, ":")
}

// MomentOf is a time of today, or of the day that it names.
func MomentOf(text string, midnight time.Time) (time.Time, bool) {
	for _, form := range []string{"15:04", time.TimeOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return midnight.Add(at.Sub(at.Truncate(words.Day))), true
		}
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

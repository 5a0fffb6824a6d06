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
	return value, qualifiers[name]
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

// between reads a span of time: today, a duration such as 1h or 3d, or 03:00..03:10, in UTC. What is
// due lies ahead, and what has ended behind: then 03:00 is that of yesterday until it comes.
func (s *Search) between(name, value string, now time.Time) bool {
	from, to, ok := spanOf(value, now.UTC(), name == "ended")
	if !ok || s.Query.Has(name+"_from") {
		return false
	}
	s.Query.Set(name+"_from", words.ISO(from))
	s.Query.Set(name+"_to", words.ISO(to))
	return true
}

func spanOf(value string, now time.Time, back bool) (from, to time.Time, ok bool) {
	midnight := now.Truncate(words.Day)
	if value == "today" {
		return midnight, midnight.Add(words.Day), true
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

// durationOf reads a duration above zero, in Go's form or in days. A day has 24 hours.
func durationOf(value string) (time.Duration, bool) {
	if days, inDays := strings.CutSuffix(value, "d"); inDays {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * words.Day, err == nil && n > 0 //nolint:gosec // it has 16 bits
	}
	span, err := time.ParseDuration(value)
	return span, err == nil && span > 0
}

// spanBetween is from one time to another. Two times of day may pass midnight. They are then of the
// span that is under way or comes next, and back in time of the last one that has begun.
func spanBetween(value string, now time.Time, back bool) (from, to time.Time, ok bool) {
	midnight := now.Truncate(words.Day)
	first, last, _ := strings.Cut(value, "..")
	from, begins := MomentOf(first, midnight)
	to, ends := MomentOf(last, midnight)
	if begins && ends && timeOfDay(first) && timeOfDay(last) {
		passes := to.Before(from)
		if back && from.After(now) || !back && passes && to.After(now) {
			from, to = from.Add(-words.Day), to.Add(-words.Day)
		}
		if passes {
			to = to.Add(words.Day)
		}
	}
	return from, to, begins && ends && from.Before(to)
}

// timeOfDay reports whether a time names no date.
func timeOfDay(text string) bool { return len(text) <= len("15:04") }

// MomentOf is a time of today, or of the day that it names.
func MomentOf(text string, midnight time.Time) (time.Time, bool) {
	if at, err := time.Parse("15:04", text); err == nil {
		return midnight.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute), true
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

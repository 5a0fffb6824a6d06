package console

import (
	"maps"
	"net/url"
	"strings"
	"time"
)

// search is what somebody has typed, as the API's list asks for it.
type search struct {
	query url.Values
	// word is a text without a qualifier: the id of a timer, or type/id.
	word string
	// wrong are the parts that are not understood.
	wrong []string
}

// qualifiers are those of a search, by what stands before their colon.
var qualifiers = map[string]func(s *search, value string, now time.Time) bool{
	"type":   func(s *search, value string, _ time.Time) bool { return s.set("business_type", value) },
	"status": func(s *search, value string, _ time.Time) bool { return s.set("status", value) },
	"label":  (*search).label,
	"due":    func(s *search, value string, now time.Time) bool { return s.between("due", value, now) },
	"ended":  func(s *search, value string, now time.Time) bool { return s.between("ended", value, now) },
	"sort":   func(s *search, value string, _ time.Time) bool { return s.set("sort", value) },
}

// parseSearch reads words with spaces between them.
func parseSearch(text string, now time.Time) search {
	s := search{query: url.Values{}}
	for part := range strings.FieldsSeq(text) {
		name, value, qualified := strings.Cut(part, ":")
		read := qualifiers[name]
		switch {
		case qualified && read != nil:
			if value == "" || !read(&s, value, now) {
				s.wrong = append(s.wrong, part)
			}
		case s.word == "":
			s.word = part
		default:
			s.wrong = append(s.wrong, part)
		}
	}
	return s
}

// all is the search as the API's list takes it.
func (s search) all() url.Values {
	query := maps.Clone(s.query)
	if s.word != "" {
		query.Set("business_id", s.word)
	}
	return query
}

// set is for what may be said once.
func (s *search) set(name, value string) bool {
	if s.query.Has(name) {
		return false
	}
	s.query.Set(name, value)
	return true
}

func (s *search) label(value string, _ time.Time) bool {
	s.query.Add("label", value)
	return strings.Contains(value, "=")
}

// between reads a span of time: today, a duration such as 1h, or 03:00..03:10, in UTC. What is
// due lies ahead, and what has ended behind.
func (s *search) between(name, value string, now time.Time) bool {
	from, to, ok := spanOf(value, now, name == "ended")
	if !ok || s.query.Has(name+"_from") {
		return false
	}
	s.query.Set(name+"_from", iso(from))
	s.query.Set(name+"_to", iso(to))
	return true
}

func spanOf(value string, now time.Time, back bool) (from, to time.Time, ok bool) {
	now = now.UTC()
	midnight := now.Truncate(day)
	if value == "today" {
		return midnight, midnight.Add(day), true
	}
	if first, last, ranged := strings.Cut(value, ".."); ranged {
		from, ok := momentOf(first, midnight)
		to, ends := momentOf(last, midnight)
		return from, to, ok && ends && from.Before(to)
	}
	span, err := time.ParseDuration(value)
	if err != nil || span <= 0 {
		return from, to, false
	}
	if back {
		return now.Add(-span), now, true
	}
	return now, now.Add(span), true
}

// momentOf is a time of today, or of the day that it names.
func momentOf(text string, midnight time.Time) (time.Time, bool) {
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

// saved are the views that are asked for most, failed first. Each is a link.
var saved = []struct{ Key, Search string }{
	{"view.failed", "status:failed ended:24h"},
	{"view.late", "status:delivering sort:due"},
	{"view.soon", "status:scheduled due:1h sort:due"},
	{"view.paused", "status:paused"},
	{"view.done", "status:delivered ended:1h"},
	{"view.all", ""},
}

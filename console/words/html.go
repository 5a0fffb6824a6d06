package words

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Time is an instant as an element. It says UTC, since one page serves readers in all zones. Our script replaces it
// by the reader's zone, with UTC on hover. Where no element can stand, pages have the text of [UTC].
func (s *Speech) Time(t time.Time) template.HTML { return timeOf(t, s.at(t)) }

// Moment is the same to the minute.
func (s *Speech) Moment(t time.Time) template.HTML {
	layout := "01-02 15:04 UTC"
	if s.isToday(t) {
		layout = "15:04 UTC"
	}
	return timeOf(t, t.UTC().Format(layout))
}

func timeOf(t time.Time, text string) template.HTML {
	return template.HTML(`<time datetime="` + ISO(t) + `" title="` + UTC(t) + `">` + text + `</time>`) //nolint:gosec // times have no markup
}

// HTML is what T says, for values that have to be written first: instants as [Speech.Time] has them, durations and
// numbers in the language. So the text takes each of them as %s.
func (s *Speech) HTML(key string, with ...any) template.HTML {
	said := make([]any, len(with))
	for i, value := range with {
		said[i] = s.written(value)
	}
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(s.T(key)), said...)) //nolint:gosec // all of it is escaped
}

// written is a value of a text as HTML.
func (s *Speech) written(value any) template.HTML {
	switch one := value.(type) {
	case template.HTML:
		return one
	case time.Time:
		return s.Time(one)
	case time.Duration:
		return Plain(s.Span(one))
	case int:
		return Plain(s.Num(one))
	default:
		return Plain(fmt.Sprint(one))
	}
}

// Plain is a text as HTML.
func Plain(text string) template.HTML {
	return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // it is escaped
}

// Together are sentences one after another.
func Together(sentences ...template.HTML) template.HTML {
	var all strings.Builder
	for i, one := range sentences {
		if i > 0 {
			all.WriteByte(' ')
		}
		all.WriteString(string(one))
	}
	return template.HTML(all.String()) //nolint:gosec // each of them is HTML
}

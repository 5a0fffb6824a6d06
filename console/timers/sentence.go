package timers

import (
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/cron"
	"github.com/wakecall/wakecall/console/words"
)

// part is a piece of a sentence: a text, a cron expression, or a moment.
type part struct {
	Text, Code string
	At         time.Time
}

// sentence is about a rule.
type sentence struct {
	words.Speech
	parts []part
}

// mostListed is how many times or dates a sentence lists.
const mostListed = 10

// gap stands in a text of the catalogues where a part goes that is no text.
const gap = "\x00"

// ruleInWords says when a recurring timer rings.
func ruleInWords(s words.Speech, r calls.Rule) []part {
	said := &sentence{Speech: s}
	said.times(r)
	said.parts[0].Text = words.Capital(said.parts[0].Text)
	if r.Timezone != "" {
		said.add(s.T("rule.zone", r.Timezone))
	} else if zone := r.Zone(); zone != nil {
		said.add(s.T("rule.zone", zone.String()))
	}
	said.bounds(r)
	said.exclusions(r.Exclude)
	said.add(s.T("policy.end"))
	said.missedAndFailed(r)
	return said.parts
}

// add adds a text, to the one before it if there is one.
func (s *sentence) add(text string) {
	if text == "" {
		return
	}
	if last := len(s.parts) - 1; last >= 0 && s.parts[last] == (part{Text: s.parts[last].Text}) {
		s.parts[last].Text += text
		return
	}
	s.parts = append(s.parts, part{Text: text})
}

// around adds a text with other parts in its gap.
func (s *sentence) around(text string, within ...part) {
	before, after, _ := strings.Cut(text, gap)
	s.add(before)
	for _, p := range within {
		if p == (part{Text: p.Text}) {
			s.add(p.Text)
		} else {
			s.parts = append(s.parts, p)
		}
	}
	s.add(after)
}

// times are those of the rule itself.
func (s *sentence) times(r calls.Rule) {
	crons := r.Expressions()
	switch {
	case r.Every != "":
		s.add(s.T("rule.every", s.exactly(r.Every)))
		s.offset(r.Offset)
	case r.After != "":
		s.add(s.T("rule.after", s.exactly(r.After)))
	case len(r.Before) > 0 && len(r.Before) <= mostListed:
		s.before(r)
	case len(crons) == 0:
		s.add(s.N("rule.listed", len(r.At)+len(r.Before)))
	}
	for i, text := range crons {
		if i > 0 {
			s.add(s.T("rule.also"))
		}
		s.expression(gap, text, cron.Form{Seconds: r.Seconds, Dialect: r.Dialect})
	}
}

// expression adds a cron expression in a gap: in words and as it is, or as it is alone.
func (s *sentence) expression(text, expression string, form cron.Form) {
	code := part{Code: expression}
	if times, ok := cron.Read(expression, form); ok {
		s.around(text, part{Text: times.In(s.Speech) + " "}, code)
		return
	}
	before, after, _ := strings.Cut(s.T("rule.cron", gap), gap)
	s.around(text, part{Text: before}, code, part{Text: after})
}

// exactly is a duration, also one of nothing.
func (s *sentence) exactly(text string) string {
	if d, err := time.ParseDuration(text); err == nil && d == 0 {
		return s.T("time.s", 0)
	}
	return s.Exactly(text)
}

// offset says from when on a rate counts.
func (s *sentence) offset(offset *string) {
	if offset != nil {
		s.add(s.T("rule.offset", s.exactly(*offset)))
	}
}

// before says how long before a time it rings.
func (s *sentence) before(r calls.Rule) {
	var steps []string
	for _, step := range r.Before {
		steps = append(steps, s.exactly(step))
	}
	text := s.T("rule.before", strings.Join(steps, s.T("cron.comma")), gap)
	if r.DueLocal != "" {
		s.around(text, part{Text: strings.Replace(r.DueLocal, "T", " ", 1)})
		return
	}
	s.around(text, part{At: r.DueAt})
}

// bounds are from when on it rings, until when, how often, and how far each time is delayed.
func (s *sentence) bounds(r calls.Rule) {
	if !r.StartAt.IsZero() {
		s.around(s.T("rule.from", gap), part{At: r.StartAt})
	}
	if r.InitialDelay != "" {
		s.add(s.T("rule.delay", s.exactly(r.InitialDelay)))
	}
	if !r.EndAt.IsZero() {
		s.around(s.T("rule.until", gap), part{At: r.EndAt})
	}
	switch {
	case r.MaxOccurrences == 1:
		s.add(s.T("rule.once"))
	case r.MaxOccurrences > 1:
		s.add(s.T("rule.most", s.Num(r.MaxOccurrences)))
	}
	if r.Jitter != "" {
		s.add(s.T("rule.jitter", s.exactly(r.Jitter)))
	}
}

// exclusions are when it does not ring: on dates, and at the minutes of cron expressions.
func (s *sentence) exclusions(all []string) {
	isDate := func(text string) bool {
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	}
	expressions := slices.DeleteFunc(slices.Clone(all), isDate)
	dates := slices.DeleteFunc(slices.Clone(all), func(text string) bool { return !isDate(text) })
	slices.Sort(dates)
	comma := s.T("cron.comma")
	switch {
	case len(dates) > mostListed+1: // one more takes no more room than to say so
		s.add(s.T("rule.except.more", strings.Join(dates[:mostListed], comma), len(dates)-mostListed))
	case len(dates) > 0:
		s.add(s.T("rule.except.dates", strings.Join(dates, comma)))
	}
	for _, text := range expressions {
		s.expression(s.T("rule.except", gap), text, cron.Form{})
	}
}

// missedAndFailed says how the rule handles missed times and failed deliveries, if not by default.
func (s *sentence) missedAndFailed(r calls.Rule) {
	switch r.Missed {
	case "skip":
		s.add(s.T("rule.skip"))
	case "fire_all":
		s.add(s.T("rule.fireall"))
	}
	if r.OnFailure == "pause" {
		s.add(s.T("rule.failure"))
	}
}

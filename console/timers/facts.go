package timers

import (
	"html/template"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
)

// Sentence is why the timer is where it is, in one sentence.
func (p *timerPage) Sentence() string {
	if len(p.Facts) == 0 {
		return ""
	}
	return p.words(p.Facts[0])
}

// words is a fact in the language of the page; one that is not known yet is in the API's words.
func (p *timerPage) words(f calls.Fact) string {
	key := "fact." + f.Fact
	switch how := f.How(p.Speech); {
	case f.Attempt != 0 && how != "":
		return p.T(key+".how", f.Attempt, how)
	case f.Queued > 1: // it is one of them
		before := f.Queued - 1
		return p.T(key+".queued", p.Num(before), words.Rate(f.PerSecond), p.Span(calls.Takes(float64(before), f.PerSecond)))
	case f.Fact == calls.WaitsForEmergency && f.Everything:
		return p.T(key+".everything", f.By)
	case f.Fact == calls.WaitsForEmergency:
		return p.T(key+".type", f.By)
	case f.Fact == calls.ReasonUnread:
		key += "." + f.Source
	}
	if text := p.T(key); text != key {
		return text
	}
	return f.Text
}

// Say is a fact with its beginning, its end and its author.
func (p *timerPage) Say(f calls.Fact) template.HTML {
	parts := []template.HTML{words.Plain(p.words(f))}
	switch { // a time that is part of the sentence
	case f.Fact == calls.WaitsForWorker && !f.Since.IsZero():
		parts, f.Since = append(parts, p.HTML("fact.worker.polled", f.Since)), time.Time{}
	case f.Fact == calls.ReasonOverdue && !f.Until.IsZero():
		parts, f.Until = append(parts, p.HTML("fact.overdue.woken", f.Until)), time.Time{}
	}
	if !f.Since.IsZero() {
		parts = append(parts, p.HTML("fact.since", f.Since))
	}
	if !f.Until.IsZero() {
		parts = append(parts, p.HTML("fact.until", f.Until))
	}
	if f.By != "" && f.By != f.Source && f.Fact != calls.WaitsForEmergency { // it is said beside it, or in the sentence
		parts = append(parts, p.HTML("fact.by", f.By))
	}
	return words.Together(parts...)
}

// attribute adds its beginning and its author to the pause of a timer. The API leaves them to the story.
func attribute(facts []calls.Fact, story []calls.Entry) {
	i := slices.IndexFunc(facts, func(f calls.Fact) bool { return f.Fact == calls.StatusPaused })
	if i < 0 {
		return
	}
	for _, e := range slices.Backward(story) {
		if !e.Pauses() {
			continue
		}
		facts[i].Since = e.At
		if e.Who != nil {
			facts[i].By = e.Who.Name
		}
		return
	}
}

package timers

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
)

// rulePage is the rule of a recurring timer: what it was, what it will be, and what another one would
// make of it.
type rulePage struct {
	site.Frame
	calls.Key
	ETag string
	// JSON is the rule as the API has it, to be edited.
	JSON string
	Next coming
	Past []calls.Occurrence
	// NextUnread and PastUnread report whether they could not be read.
	NextUnread, PastUnread bool
	// Then is what a changed rule would make of it; nil where none was previewed.
	Then *coming
	// MayChange reports whether the user may change the rule.
	MayChange bool
	site.Refusal
	status string
}

// coming is a rule in words, and its next times.
type coming struct {
	calls.Upcoming
	Words []part
	// Zone is where its clocks stand; nil for a rule without clocks.
	Zone *time.Location
}

// say adds the words of a rule.
func (c *coming) say(in words.Language, r calls.Rule) {
	c.Words, c.Zone = ruleInWords(words.Speech{Lang: in}, r), r.Zone()
}

// shownOccurrences is how many occurrences a page shows, ahead and behind.
const shownOccurrences = 20

func (c *Pages) showRule(v *site.Visit) {
	page, problem := c.rulePage(v)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	c.Render(v, http.StatusOK, "rule", page)
}

func (c *Pages) rulePage(v *site.Visit) (*rulePage, *calls.Problem) {
	page := &rulePage{Key: keyIn(v.R)}
	path := page.Resource()
	var shown struct {
		Status     string         `json:"status"`
		Recurrence jsontext.Value `json:"recurrence"`
	}
	a, problem := c.Call(v, calls.Get(path), &shown)
	if problem != nil {
		return nil, problem
	}
	if len(shown.Recurrence) == 0 {
		return nil, &calls.Problem{Status: http.StatusNotFound, Title: v.Lang.Say("rule.none")}
	}
	var rule calls.Rule
	if problem := c.Decode(shown.Recurrence, &rule); problem != nil {
		return nil, problem
	}
	page.Next.say(v.Lang, rule)
	page.ETag, page.JSON = a.Head.Get("ETag"), site.Indented(shown.Recurrence)
	_, problem = c.Call(v, calls.Get(path+"/upcoming").With(countOf("count")), &page.Next.Upcoming)
	page.NextUnread = problem != nil
	var past struct {
		Occurrences []calls.Occurrence `json:"occurrences"`
	}
	_, problem = c.Call(v, calls.Get(path+"/occurrences").With(countOf("page_size")), &past)
	page.Past, page.PastUnread = past.Occurrences, problem != nil
	page.Frame, page.status = c.Frame(v, "rule.title"), shown.Status
	open := !calls.Timer{Status: shown.Status}.Finished()
	page.MayChange = open && page.Fixed() == "" && v.Who.May(auth.Operator, page.BusinessType)
	return page, nil
}

func countOf(name string) url.Values { return url.Values{name: {strconv.Itoa(shownOccurrences)}} }

// Barred overrides that of [site.Frame].
func (p *rulePage) Barred() string {
	return p.BarredUnless(p.Who.May(auth.Operator, p.BusinessType), "actions.barred")
}

// changeRule shows what a changed rule would make of the timer, or changes it once a user has seen
// that.
func (c *Pages) changeRule(v *site.Visit) {
	rule, etag := jsontext.Value(v.R.PostFormValue("rule")), v.R.PostFormValue("etag")
	if etag == "" {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	if !rule.IsValid() {
		c.showTypedRule(v, &calls.Problem{Status: http.StatusUnprocessableEntity, Title: v.Lang.Say("policy.nojson")}, nil)
		return
	}
	if v.R.PostFormValue("sure") == "" {
		then, problem := c.previewRule(v, rule)
		c.showTypedRule(v, problem, then)
		return
	}
	key := keyIn(v.R)
	a, problem := c.Call(v, calls.Call{
		Method: http.MethodPatch, Path: key.Resource(), IfMatch: etag,
		Body: map[string]any{"recurrence": rule},
	}, nil)
	switch {
	case problem != nil:
		c.showTypedRule(v, problem, nil)
	case a.Status == http.StatusAccepted:
		v.Redirect(key.Path() + "?done=accepted")
	default:
		v.Redirect(key.Path() + "?done=rule")
	}
}

// previewRule asks for the times of a rule. They are seen also where it cannot be said.
func (c *Pages) previewRule(v *site.Visit, rule jsontext.Value) (*coming, *calls.Problem) {
	then, read := &coming{}, calls.Rule{}
	asked := map[string]any{"recurrence": rule, "count": shownOccurrences}
	_, problem := c.Call(v, calls.Post(calls.Root+"recurrences/preview", asked), &then.Upcoming)
	if problem == nil && c.Decode(rule, &read) == nil {
		then.say(v.Lang, read)
	}
	return then, problem
}

// showTypedRule shows the present rule and the typed one, with a preview of that or the reason of its refusal.
func (c *Pages) showTypedRule(v *site.Visit, problem *calls.Problem, then *coming) {
	page, unread := c.rulePage(v)
	if unread != nil {
		c.RefuseBy(v, unread)
		return
	}
	page.JSON = v.R.PostFormValue("rule")
	if problem == nil {
		page.Then, page.ETag = then, v.R.PostFormValue("etag") // the change is meant for what was shown
	} else {
		page.refuse(c, v, problem)
	}
	c.Render(v, calls.StatusOf(problem), "rule", page)
}

// refuse says why the rule was not changed, and what changed meanwhile.
func (p *rulePage) refuse(c *Pages, v *site.Visit, problem *calls.Problem) {
	now := calls.Timer{Status: p.status}
	p.Refusal = site.Refusal{Problem: problem, TooLate: tooLate(problem, now), Typed: v.R.PostForm}
	if p.Changed() || p.TooLate != "" {
		told, _ := c.storyOf(v, p.Resource()) // a page without it is better than none
		addMeanwhile(&p.Refusal, told.Entries, p.ETag, now)
	}
}

// Form is where the form of the page is sent.
func (p *rulePage) Form() string { return p.Path() + "/rule" }

// Same reports whether an instant is among the next ones of the rule as it is.
func (p *rulePage) Same(at time.Time) bool {
	for _, one := range p.Next.Times {
		if one.Equal(at) {
			return true
		}
	}
	return false
}

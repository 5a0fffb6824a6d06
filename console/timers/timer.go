package timers

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
)

// timerPage is one timer: what it does, why, what to press, and its story.
type timerPage struct {
	site.Frame
	Timer calls.Timer
	// ETag is of the timer as it is shown: a change is meant for this one.
	ETag string
	// Facts are why it is where it is, the first as the sentence.
	Facts []calls.Fact
	Story []calls.Entry
	// StoryUnread and WhyUnread report whether they could not be read.
	StoryUnread, WhyUnread bool
	// Longer reports whether the story has more than is shown.
	Longer  bool
	Actions []action
	// Refused is why there are no actions; "" where there are.
	Refused string
	// Done is what was just done.
	Done string
	site.Refusal
	// Curl and Command are how to see the same without the console.
	Curl, Command string
}

// action is something to press.
type action struct {
	Name string
	// where says for which timers it is of use.
	where func(calls.Timer) bool
	// Refused reports whether it was pressed and refused: its form stands open, with what was typed.
	Refused bool
}

// actions are the actions on timers, in the order of the page. The page offers none that would be refused.
var actions = []action{
	{Name: "fire", where: func(t calls.Timer) bool { return t.Open() }},
	{Name: "move", where: func(t calls.Timer) bool { return t.Open() && t.Recurrence == nil }},
	{Name: "edit", where: func(t calls.Timer) bool { return t.Open() && (t.IsWeb() || t.Callback == nil) }},
	{Name: "pause", where: func(t calls.Timer) bool { return t.Open() && t.Status != calls.StatusPaused }},
	{Name: "resume", where: func(t calls.Timer) bool { return t.Open() && t.Status == calls.StatusPaused }},
	{Name: "redeliver", where: func(t calls.Timer) bool { return t.Status == calls.StatusFailed }},
	{Name: "cancel", where: func(t calls.Timer) bool { return t.Open() }},
}

func actionNamed(name string) (action, bool) {
	i := slices.IndexFunc(actions, func(a action) bool { return a.Name == name })
	if i < 0 {
		return action{}, false
	}
	return actions[i], true
}

// storyLength is how many entries of a story one page shows.
const storyLength = "100"

func (c *Pages) showTimer(v *site.Visit) {
	page, problem := c.timerPage(v)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	if page.Done = v.Done("done."); page.held() {
		page.Done = cmp.Or(v.DoneAs("done.", ".held"), page.Done)
	}
	c.Render(v, http.StatusOK, "timer", page)
}

func (c *Pages) timerPage(v *site.Visit) (*timerPage, *calls.Problem) {
	key, page := keyIn(v.R), &timerPage{Frame: c.Frame(v, "timer.title")}
	path := key.Resource()
	shown, problem := c.Call(v, calls.Get(path), &page.Timer)
	if problem != nil {
		return nil, problem
	}
	page.Title = key.BusinessType + "/" + key.BusinessID
	page.ETag = shown.Head.Get("ETag")
	page.Curl = "curl -sS " + c.Base(v) + path + page.Bearer()
	page.Command = c.Look.Command + " get " + page.Title + " --server " + c.Base(v)
	c.explain(v, page, path)
	page.offer(v.Who)
	return page, nil
}

// explain adds the reasons and the story. A page without them is better than none.
func (c *Pages) explain(v *site.Visit, page *timerPage, path string) {
	var why struct {
		Facts []calls.Fact `json:"facts"`
	}
	_, problem := c.Call(v, calls.Get(path+"/why"), &why)
	page.Facts, page.WhyUnread = why.Facts, problem != nil
	story, problem := c.storyOf(v, path)
	attribute(page.Facts, story.Entries)
	page.Story = calls.WithDue(story.Entries, page.openDue(), page.Now)
	page.StoryUnread, page.Longer = problem != nil, story.NextPageToken != ""
}

// story is what became of a timer, the oldest first.
type story struct {
	Entries       []calls.Entry `json:"entries"`
	NextPageToken string        `json:"next_page_token"`
}

func (c *Pages) storyOf(v *site.Visit, path string) (told story, problem *calls.Problem) {
	_, problem = c.Call(v, calls.Get(path+"/history").With(url.Values{"page_size": {storyLength}}), &told)
	return told, problem
}

// held reports whether the timer does not ring now, however due it is.
func (p *timerPage) held() bool {
	return p.Timer.Open() && p.Timer.WaitsFor != "" && p.Timer.WaitsFor != calls.WaitsForAck
}

// openDue is the due time of an open timer; the zero time for another one.
func (p *timerPage) openDue() (due time.Time) {
	if p.Timer.Open() {
		due = p.Timer.DueAt
	}
	return due
}

// offer adds what may be pressed, or says why there is nothing.
func (p *timerPage) offer(who *auth.Principal) {
	fixed := p.Fixed()
	switch {
	case fixed != "":
		p.Refused = fixed
	case !who.May(auth.Operator, p.Timer.BusinessType):
		p.Refused = p.Asking(p.T("actions.viewer"))
	default:
		for _, a := range actions {
			if a.where(p.Timer) {
				p.Actions = append(p.Actions, a)
			}
		}
	}
}

// Barred overrides that of [site.Frame]: it stands where the actions would.
func (p *timerPage) Barred() string { return "" }

// TypeLink leads to the timers of the same business type.
func (p *timerPage) TypeLink() string { return links.List(links.TypedAs(p.Timer.BusinessType), "") }

// Rule is when a recurring timer rings, in words.
func (p *timerPage) Rule() []part { return ruleInWords(p.Speech, *p.Timer.Recurrence) }

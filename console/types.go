package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/internal/auth"
)

// typePages are the overview, the business types, and the page of one.
type typePages struct{ *Site }

// routes are those of the pages.
func (c *typePages) routes() []route {
	return []route{
		{http.MethodGet, "{$}", signedIn, c.start},
		{http.MethodGet, "types", signedIn, c.listTypes},
		{http.MethodGet, "types/{type}", signedIn, c.showType},
		{http.MethodPost, "types/{type}/edit", changing, c.editPolicy},
		{http.MethodPost, "types/{type}/policy", changing, c.replacePolicy},
		{http.MethodPost, "types/{type}/back", changing, c.putBack},
		{http.MethodPost, "types/{type}/release", changing, c.letGo},
		{http.MethodPost, "types/{type}/{action}", changing, c.changeType},
	}
}

// typesPage is a table of the business types that have a policy, gravest first.
type typesPage struct {
	frame
	Rows []typeRow
	Done string
	// Unread reports whether what stands here is older than it should be.
	Unread bool
	// Problem is why a change was not made.
	Problem *Problem
}

// typeRow is one business type.
type typeRow struct {
	Policy
	// State is its state in a word, By who has it so, and Since and Until when.
	State        string
	By, Note     string
	Since, Until time.Time
	Counts       *Counts // nil where they cannot be told
	// Open are timers that are being delivered, Failing those that have failed just now, and Ahead
	// is where more falls due than the limit lets through; nil for none.
	Open, Failing *sample
	Ahead         *overflow
	// Action is what may be done: pause, resume or nothing.
	Action string
}

// states are those of a business type, gravest first.
var states = []string{"emergency", "overdue", "streamless", "failing", "paused", "held", "overflowing", "running"}

// Link is the page of the type.
func (r typeRow) Link() string { return typePath(r.BusinessType) }

// Failure is why its timers fail, in a word; "" where none does.
func (r typeRow) Failure() string {
	for _, s := range []*sample{r.Failing, r.Open} {
		if r.State == "failing" && s != nil && s.Example.LastFailure != nil {
			return s.Example.LastFailure.short()
		}
	}
	return ""
}

// List and Failed lead to its timers, Change to where it is paused and resumed.
func (r typeRow) List() string   { return list(typedAs(r.BusinessType), "") }
func (r typeRow) Failed() string { return list(typedAs(r.BusinessType)+" status:"+statusFailed, "") }
func (r typeRow) Change() string {
	return Root + "types/" + url.PathEscape(r.BusinessType) + "/" + r.Action
}

func (c *typePages) listTypes(v *visit) {
	page := c.typesPage(v)
	page.Done = v.done("typed.")
	c.render(v, http.StatusOK, "types", page)
}

func (c *typePages) typesPage(v *visit) *typesPage {
	page := &typesPage{frame: c.frame(v, "types.title")}
	page.Unread = page.picture.Away[partPolicies] || page.picture.Away[partCounts]
	for _, policy := range page.picture.Policies {
		row := rowOf(page.picture, policy)
		if c.Mode == On && v.who.May(auth.Operator, row.BusinessType) {
			row.Action = actionOf(page.picture, row)
		}
		page.Rows = append(page.Rows, row)
	}
	slices.SortStableFunc(page.Rows, func(a, b typeRow) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), strings.Compare(a.BusinessType, b.BusinessType))
	})
	return page
}

// actionOf is what may be done with a type. What its policy pauses is resumed by the policy, and an
// emergency of everything by who ends it for everything.
func actionOf(p *picture, row typeRow) string {
	switch {
	case row.State == "paused" || p.everything() != nil:
		return ""
	case row.State == "emergency":
		return "resume"
	default:
		return "pause"
	}
}

// rowOf says what state a business type is in.
func rowOf(p *picture, policy Policy) typeRow {
	row := typeRow{Policy: policy, State: "running", Counts: p.Counts[policy.BusinessType], Open: p.Open[policy.BusinessType], Failing: p.Failed[policy.BusinessType]}
	if o, ok := p.Ahead[policy.BusinessType]; ok {
		row.Ahead = &o
	}
	by := p.pausedType(policy.BusinessType)
	if all := p.everything(); all != nil {
		by = all
	}
	switch {
	case by != nil:
		row.State, row.By, row.Since, row.Note = "emergency", by.Author, by.Since, by.Note
	case policy.Paused:
		row.State, row.By, row.Since = "paused", policy.PausedBy, policy.PausedAt
	case policy.pressedAt(p.At):
		row.State, row.Since, row.Until = "held", policy.BackPressure.Since, policy.BackPressure.Until
	case p.Overdue[policy.BusinessType] != nil:
		row.State = "overdue"
	case row.Open != nil && row.Open.Example.WaitsFor == waitsForReceiver:
		row.State = "streamless"
	case p.Failed[policy.BusinessType] != nil, row.Open != nil && row.Open.Example.LastFailure != nil:
		row.State = "failing"
	case row.Ahead != nil:
		row.State = "overflowing"
	}
	return row
}

// changeType pauses the callbacks of a business type at once, or lets them go on.
func (c *typePages) changeType(v *visit) {
	action, businessType := v.R.PathValue("action"), v.R.PathValue("type")
	if action != "pause" && action != "resume" {
		c.absent(v)
		return
	}
	if err := v.R.ParseForm(); err != nil {
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	order := map[string]any{"business_types": []string{businessType}}
	if note := strings.TrimSpace(v.R.PostFormValue("note")); note != "" {
		order["note"] = note
	}
	if _, problem := c.call(v, call{method: http.MethodPost, path: apiRoot + "emergency/" + action, body: order}, nil); problem != nil {
		page := c.typesPage(v)
		page.Problem = problem
		c.render(v, problem.Status, "types", page)
		return
	}
	v.redirect(Root + "types?done=" + action)
}

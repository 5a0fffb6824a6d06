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

// Policy is what the API shows of how a business type is called back.
type Policy struct {
	BusinessType string    `json:"business_type"`
	Paused       bool      `json:"paused"`
	PausedBy     string    `json:"paused_by"`
	PausedAt     time.Time `json:"paused_at"`
	BackPressure *struct {
		Until time.Time `json:"until"`
		Since time.Time `json:"since"`
	} `json:"back_pressure"`
	Limits struct {
		CallbacksPerSecond *float64 `json:"callbacks_per_second"`
	} `json:"limits"`
}

// Counts are how many timers there are of each status.
type Counts struct {
	Scheduled  int `json:"scheduled"`
	Paused     int `json:"paused"`
	Delivering int `json:"delivering"`
	Failed     int `json:"failed"`
}

// typesPage is a table of the business types that have a policy, gravest first.
type typesPage struct {
	frame
	Rows []typeRow
	Done string
	// Uncounted reports whether some numbers cannot be told now, and Problem why there is no table, or
	// why a change was not made.
	Uncounted bool
	Problem   *Problem
}

// typeRow is one business type.
type typeRow struct {
	Policy
	// State is its state in a word, By who has it so, and Since and Until when.
	State        string
	By, Note     string
	Since, Until time.Time
	Counts       *Counts // nil where they cannot be told
	// Action is what may be done: pause, resume or nothing.
	Action string
}

// states are those of a business type, gravest first.
var states = []string{"emergency", "paused", "held", "failing", "running"}

// List and Failed lead to its timers, Change to where it is paused and resumed.
func (r typeRow) List() string   { return list(typedAs(r.BusinessType), "") }
func (r typeRow) Failed() string { return list(typedAs(r.BusinessType)+" status:"+statusFailed, "") }
func (r typeRow) Change() string {
	return Root + "types/" + url.PathEscape(r.BusinessType) + "/" + r.Action
}

func (c *Console) listTypes(v *visit) {
	page := c.typesPage(v)
	if done := v.r.FormValue("done"); catalogues[english]["typed."+done] != "" {
		page.Done = v.lang.say("typed." + done)
	}
	status := http.StatusOK
	if page.Problem != nil {
		status = page.Problem.Status
	}
	c.render(v, status, "types", page)
}

func (c *Console) typesPage(v *visit) *typesPage {
	page := &typesPage{frame: c.frame(v, "types.title")}
	c.strip(v, &page.frame)
	var known struct {
		Policies []Policy `json:"policies"`
	}
	if _, page.Problem = c.call(v, call{method: http.MethodGet, path: apiRoot + "policies"}, &known); page.Problem != nil {
		return page
	}
	counts := c.counts(v, known.Policies)
	for _, policy := range known.Policies {
		row := page.row(policy, counts[policy.BusinessType], c.Now())
		if c.Mode == On && v.who.May(auth.Operator, row.BusinessType) {
			row.Action = page.action(row)
		}
		page.Uncounted = page.Uncounted || row.Counts == nil
		page.Rows = append(page.Rows, row)
	}
	slices.SortStableFunc(page.Rows, func(a, b typeRow) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), strings.Compare(a.BusinessType, b.BusinessType))
	})
	return page
}

// everything is the emergency of all business types, if there is one.
func (p *typesPage) everything() int {
	return slices.IndexFunc(p.Paused, func(pause Pause) bool { return pause.Everything })
}

// action is what may be done with a type. What its policy pauses is resumed by the policy, and an
// emergency of everything by who ends it for everything.
func (p *typesPage) action(row typeRow) string {
	switch {
	case row.State == "paused" || p.everything() >= 0:
		return ""
	case row.State == "emergency":
		return "resume"
	default:
		return "pause"
	}
}

// row says what state a business type is in.
func (p *typesPage) row(policy Policy, counts *Counts, now time.Time) typeRow {
	row := typeRow{Policy: policy, State: "running", Counts: counts}
	i := slices.IndexFunc(p.Paused, func(pause Pause) bool { return !pause.Everything && pause.BusinessType == policy.BusinessType })
	if all := p.everything(); all >= 0 {
		i = all
	}
	switch {
	case i >= 0:
		row.State, row.By, row.Since, row.Note = "emergency", p.Paused[i].Author, p.Paused[i].Since, p.Paused[i].Note
	case policy.Paused:
		row.State, row.By, row.Since = "paused", policy.PausedBy, policy.PausedAt
	case policy.BackPressure != nil && policy.BackPressure.Until.After(now):
		row.State, row.Since, row.Until = "held", policy.BackPressure.Since, policy.BackPressure.Until
	case counts != nil && counts.Failed > 0:
		row.State = "failing"
	}
	return row
}

// countedTypes bounds how many business types are counted one by one, for those who may not see
// all together: each costs a question.
const countedTypes = 20

// counts are the numbers of timers, by business type. What cannot be told is left out.
func (c *Console) counts(v *visit, policies []Policy) map[string]*Counts {
	found := map[string]*Counts{}
	ask := func(query url.Values) {
		var counted struct {
			BusinessTypes []struct {
				BusinessType string `json:"business_type"`
				Timers       Counts `json:"timers"`
			} `json:"business_types"`
		}
		_, problem := c.call(v, call{method: http.MethodGet, path: apiRoot + "stats", query: query}, &counted)
		for _, one := range counted.BusinessTypes {
			if problem == nil {
				found[one.BusinessType] = &one.Timers
			}
		}
	}
	if v.who.May(auth.Viewer, "") {
		ask(nil)
		return found
	}
	for _, policy := range policies[:min(len(policies), countedTypes)] {
		ask(url.Values{"business_type": {policy.BusinessType}})
	}
	return found
}

// changeType pauses the callbacks of a business type at once, or lets them go on.
func (c *Console) changeType(v *visit) {
	action, businessType := v.r.PathValue("action"), v.r.PathValue("type")
	if action != "pause" && action != "resume" {
		c.absent(v)
		return
	}
	if err := v.r.ParseForm(); err != nil {
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	order := map[string]any{"business_types": []string{businessType}}
	if note := strings.TrimSpace(v.r.PostFormValue("note")); note != "" {
		order["note"] = note
	}
	var left struct{}
	if _, problem := c.call(v, call{method: http.MethodPost, path: apiRoot + "emergency/" + action, body: order}, &left); problem != nil {
		page := c.typesPage(v)
		page.Problem = problem
		c.render(v, problem.Status, "types", page)
		return
	}
	v.redirect(Root + "types?done=" + action)
}

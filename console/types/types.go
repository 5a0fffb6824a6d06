package types

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the overview, the business types, and the page of one.
type Pages struct{ *site.Site }

// Routes returns the routes of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("{$}", c.start).Live(tuning.LiveTable).Drawing(c.drawAll),
		site.Show("types", c.listTypes).Live(tuning.LiveTable),
		site.Show("types/{type}", c.showType).Live(tuning.LiveTable).Listing().Drawing(c.drawType),
		site.Change("types/{type}/edit", c.editPolicy),
		site.Change("types/{type}/policy", c.replacePolicy),
		site.Change("types/{type}/back", c.putBack),
		site.Change("types/{type}/links", c.swapLinks),
		site.Change("types/{type}/release", c.liftBackPressure),
		site.Change("types/{type}/test", c.testRing),
		site.Change("types/{type}/{action}", c.changeType),
	}
}

// typesPage is a table of the business types that have a policy or timers, gravest first.
type typesPage struct {
	site.Frame
	Rows []TypeRow
	Done string
	// Unread reports whether what stands here is older than it should be.
	Unread bool
	// Problem is why a change was not made.
	Problem *calls.Problem
	// All is how many business types there are. First and Next lead to the others; "" for none.
	All         int
	First, Next string
}

// Acts reports whether the visitor may change something in one of the rows. Else the table has no column for that.
func (p *typesPage) Acts() bool {
	return slices.ContainsFunc(p.Rows, func(row TypeRow) bool { return row.Action != "" || row.MayEdit })
}

// show limits the page to at most so many rows, beginning with the row from.
func (p *typesPage) show(from, most int) {
	if p.All = len(p.Rows); from >= p.All {
		from = 0
	}
	if from > 0 {
		p.First = links.Root + "types"
	}
	if from+most < p.All {
		p.Next = links.Root + "types?from=" + strconv.Itoa(from+most)
	}
	p.Rows = p.Rows[from:min(from+most, p.All)]
}

// TypeRow is one business type.
type TypeRow struct {
	calls.Policy
	Mark
	// Also are its other states.
	Also   []Mark
	Counts *calls.Counts // nil where they cannot be told
	// Soon are the minutes ahead, and Past is how the last day was; nil where they are not known. DueSoon
	// is what falls due within an hour.
	Soon    *calls.Forecast
	Past    *watch.Past
	DueSoon int
	// Failure is why its timers fail; nil where none does.
	Failure *calls.Failure
	// Ahead is where more falls due than the limit lets through; nil for nowhere.
	Ahead *watch.Overflow
	// Action is what may be done at once: pause, resume or nothing. MayEdit reports whether the policy may be
	// changed.
	Action  string
	MayEdit bool
	// Typed is the note for a pause that was refused.
	Typed string
}

// Mark is a state in a word, with who has it so and why, and since and until when.
type Mark struct {
	State        watch.State
	By, Note     string
	Since, Until time.Time
}

// Link is the page of the type.
func (r TypeRow) Link() string { return links.TypePath(r.BusinessType) }

// is reports whether it is in a state, whatever others it is in.
func (r TypeRow) is(state watch.State) bool {
	return r.State == state || slices.ContainsFunc(r.Also, func(one Mark) bool { return one.State == state })
}

// Held reports whether its callbacks are held back, by whatever.
func (r TypeRow) Held() bool {
	return r.State.Holds() || slices.ContainsFunc(r.Also, func(one Mark) bool { return one.State.Holds() })
}

// Pressed reports whether its receiver has asked for patience that lasts, whatever else holds it back.
func (r TypeRow) Pressed() bool { return r.is(watch.Pressed) }

// List leads to its timers.
func (r TypeRow) List() string { return links.List(links.TypedAs(r.BusinessType), "") }

// Failed leads to its failed timers, or to its recurring timers if only occurrences have failed.
func (r TypeRow) Failed() string {
	if r.Past != nil && r.Past.Ended() == 0 && r.Past.Failed() > 0 {
		return links.List(links.TypedAs(r.BusinessType)+" is:recurring", "")
	}
	return links.List(links.TypedAs(r.BusinessType)+" status:"+calls.StatusFailed+" ended:24h", "")
}

// ETag is the ETag of the policy as it is shown. A change is meant for this one.
func (r TypeRow) ETag() string { return strconv.Quote(strconv.Itoa(r.Version)) }

// Change is where it is paused and resumed.
func (r TypeRow) Change() string {
	return links.Root + "types/" + url.PathEscape(r.BusinessType) + "/" + r.Action
}

func (c *Pages) listTypes(v *site.Visit) {
	page := c.TypesPage(v)
	page.Done = v.Done("typed.")
	from, _ := strconv.Atoi(v.R.FormValue("from")) // whatever else stands there is the first page
	page.show(max(from, 0), tuning.TypesShown)
	c.Render(v, http.StatusOK, "types", page)
}

// TypesPage is the table of the types that a visitor sees.
func (c *Pages) TypesPage(v *site.Visit) *typesPage {
	page := &typesPage{Frame: c.Frame(v, "types.title")}
	if page.Unread = page.Picture.ListsAway(); page.Unread && !page.Picture.Unseen() {
		v.ShowOld(page.Picture.Listed)
	}
	for _, policy := range page.Picture.Types() {
		row := rowOf(page.Picture, policy)
		if page.Fixed() == "" && v.Who.May(auth.Operator, row.BusinessType) {
			row.Action = actionOf(page.Picture, row)
			row.MayEdit = row.Version > 0 && v.Who.May(auth.Admin, row.BusinessType)
		}
		page.Rows = append(page.Rows, row)
	}
	slices.SortStableFunc(page.Rows, func(a, b TypeRow) int {
		return cmp.Or(a.State.Compare(b.State), strings.Compare(a.BusinessType, b.BusinessType))
	})
	return page
}

// actionOf is the action that a row offers. A pause by the policy ends by a change of the policy, and an emergency of
// everything ends on the page of emergencies.
func actionOf(p *watch.Picture, row TypeRow) string {
	switch {
	case p.Everything() != nil:
		return ""
	case row.is(watch.Emergency):
		return "resume"
	case row.is(watch.Paused):
		return ""
	default:
		return "pause"
	}
}

// rowOf says what states a business type is in.
func rowOf(p *watch.Picture, policy calls.Policy) TypeRow {
	row := TypeRow{
		Policy: policy,
		Counts: p.Counts[policy.BusinessType], Soon: p.Soon[policy.BusinessType], Past: p.Past[policy.BusinessType],
	}
	row.DueSoon = row.dueSoon(p.At)
	if o, ok := p.Ahead[policy.BusinessType]; ok {
		row.Ahead = &o
	}
	for _, state := range p.States(policy) {
		row.Also = append(row.Also, markOf(p, policy, state))
	}
	if row.Mark, row.Also = row.Also[0], row.Also[1:]; row.is(watch.Failing) {
		row.Failure = p.WhyFailing(policy.BusinessType)
	}
	return row
}

// markOf is a state of a business type with its author and its time, where it has them.
func markOf(p *watch.Picture, policy calls.Policy, state watch.State) Mark {
	switch state {
	case watch.Emergency:
		by := cmp.Or(p.Everything(), p.PausedType(policy.BusinessType))
		return Mark{State: state, By: by.Author, Since: by.Since, Note: by.Note}
	case watch.Paused:
		return Mark{State: state, By: policy.PausedBy, Since: policy.PausedAt}
	case watch.Pressed:
		return Mark{State: state, Since: policy.BackPressure.Since, Until: policy.BackPressure.Until}
	default:
		return Mark{State: state}
	}
}

// putFirst has the row of a type come first, with the note that was typed in it.
func (p *typesPage) putFirst(businessType, note string) {
	i := slices.IndexFunc(p.Rows, func(row TypeRow) bool { return row.BusinessType == businessType })
	if i < 0 {
		return
	}
	row := p.Rows[i]
	row.Typed = note
	p.Rows = slices.Insert(slices.Delete(p.Rows, i, i+1), 0, row)
}

// changeType pauses the callbacks of a business type at once, or lets them go on. It leads back to where that was
// pressed: the table, or the page of the type.
func (c *Pages) changeType(v *site.Visit) {
	action, businessType := v.R.PathValue("action"), v.R.PathValue("type")
	if action != "pause" && action != "resume" {
		c.Absent(v)
		return
	}
	if err := v.R.ParseForm(); err != nil {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	order := map[string]any{"business_types": []string{businessType}}
	note := strings.TrimSpace(v.R.PostFormValue("note"))
	if note != "" {
		order["note"] = note
	}
	_, problem := c.Call(v, calls.Post(calls.Root+"emergency/"+action, order), nil)
	switch back := v.R.PostFormValue("back"); {
	case problem == nil:
		v.Redirect(links.Done(cmp.Or(back, links.Root+"types"), action))
	case back != "": // the page of the type
		c.showPolicyProblem(v, problem)
	default:
		page := c.TypesPage(v)
		page.Problem = problem
		page.putFirst(businessType, note)
		page.show(0, tuning.TypesShown)
		c.Render(v, problem.Status, "types", page)
	}
}

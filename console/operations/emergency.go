package operations

import (
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are for who keeps the installation running.
type Pages struct{ *site.Site }

// Routes returns the routes of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("emergency", c.showEmergency).Live(tuning.LiveTable),
		site.Change("emergency/{action}", c.changeEmergency),
		site.Show("health", c.showHealth).Live(tuning.LiveTable).Listing(),
		site.Show("audit", c.showAudit).Live(tuning.LiveTable),
	}
}

// emergencyPage lists the emergency pauses, with their authors.
type emergencyPage struct {
	site.Frame
	Rows []emergencyRow
	// Unread reports whether what is paused cannot be read now.
	Unread bool
	// MayStop reports whether who looks may pause everything.
	MayStop bool
	Done    string
	Problem *calls.Problem
	// Typed is the note of the form that was refused.
	Typed string
}

// Barred overrides that of [site.Frame].
func (p *emergencyPage) Barred() string {
	if !p.Who.MaySomewhere(auth.Operator) {
		return p.Frame.Barred()
	}
	return p.BarredUnless(p.Who.May(auth.Admin, ""), "emergency.barred")
}

// emergencyRow is one pause. MayResume reports whether who looks may end it.
type emergencyRow struct {
	calls.Pause
	MayResume bool
}

func (c *Pages) showEmergency(v *site.Visit) {
	page := c.emergencyPage(v)
	page.Done = v.Done("emergency.")
	c.Render(v, http.StatusOK, "emergency", page)
}

func (c *Pages) emergencyPage(v *site.Visit) *emergencyPage {
	page := &emergencyPage{Frame: c.Frame(v, "emergency.title")}
	if page.Picture.ListsAway() {
		v.ShowOld(page.Picture.Listed)
	}
	page.Unread = page.Picture.Away[watch.PartPaused]
	may := page.Fixed() == ""
	for _, one := range page.Picture.Paused {
		row := emergencyRow{Pause: one}
		if one.Everything {
			row.MayResume = may && v.Who.May(auth.Admin, "")
		} else {
			row.MayResume = may && v.Who.May(auth.Operator, one.BusinessType)
		}
		page.Rows = append(page.Rows, row)
	}
	page.MayStop = may && v.Who.May(auth.Admin, "") && page.Picture.Everything() == nil
	return page
}

// changeEmergency pauses everything, or ends one pause. Who pauses everything says why.
func (c *Pages) changeEmergency(v *site.Visit) {
	action, note := v.R.PathValue("action"), strings.TrimSpace(v.R.PostFormValue("note"))
	order := map[string]any{}
	if businessType := v.R.PostFormValue("business_type"); businessType != "" {
		order["business_types"] = []string{businessType}
	} else {
		order["everything"] = true
	}
	switch action {
	case "pause":
		if note == "" {
			page := c.emergencyPage(v)
			page.Problem = &calls.Problem{Status: http.StatusUnprocessableEntity, Title: v.Lang.Say("emergency.nonote")}
			c.Render(v, page.Problem.Status, "emergency", page)
			return
		}
		order["note"] = note
	case "resume":
	default:
		c.Absent(v)
		return
	}
	if _, problem := c.Call(v, calls.Post(calls.Root+"emergency/"+action, order), nil); problem != nil {
		page := c.emergencyPage(v)
		page.Problem, page.Typed = problem, note
		c.Render(v, problem.Status, "emergency", page)
		return
	}
	v.Redirect(links.Emergency + "?done=" + action)
}

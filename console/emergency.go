package console

import (
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/internal/auth"
)

// operationPages are for who keeps the installation running.
type operationPages struct{ *Site }

// routes are those of the pages.
func (c *operationPages) routes() []route {
	return []route{
		{http.MethodGet, "emergency", signedIn, c.showEmergency},
		{http.MethodPost, "emergency/{action}", changing, c.changeEmergency},
		{http.MethodGet, "health", signedIn, c.showHealth},
	}
}

// emergencyPage is what is paused at once, and by whom.
type emergencyPage struct {
	frame
	Rows []emergencyRow
	// MayStop reports whether who looks may pause everything.
	MayStop bool
	// Unread reports whether what is paused cannot be read now.
	Unread  bool
	Done    string
	Problem *Problem
	// Typed is the note of the form that was refused.
	Typed string
}

// emergencyRow is one pause. MayResume reports whether who looks may end it.
type emergencyRow struct {
	Pause
	MayResume bool
}

func (c *operationPages) showEmergency(v *visit) {
	page := c.emergencyPage(v)
	page.Done = v.done("emergency.")
	c.render(v, http.StatusOK, "emergency", page)
}

func (c *operationPages) emergencyPage(v *visit) *emergencyPage {
	page := &emergencyPage{frame: c.frame(v, "emergency.title")}
	page.Unread = page.picture.Away[partPaused]
	for _, one := range page.picture.Paused {
		row := emergencyRow{Pause: one}
		if one.Everything {
			row.MayResume = c.Mode == On && v.who.May(auth.Admin, "")
		} else {
			row.MayResume = c.Mode == On && v.who.May(auth.Operator, one.BusinessType)
		}
		page.Rows = append(page.Rows, row)
	}
	page.MayStop = c.Mode == On && v.who.May(auth.Admin, "") && page.picture.everything() == nil
	return page
}

// changeEmergency pauses everything, or ends one pause. Who pauses everything says why.
func (c *operationPages) changeEmergency(v *visit) {
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
			page.Problem = &Problem{Status: http.StatusUnprocessableEntity, Title: v.lang.say("emergency.nonote")}
			c.render(v, page.Problem.Status, "emergency", page)
			return
		}
		order["note"] = note
	case "resume":
	default:
		c.absent(v)
		return
	}
	if _, problem := c.call(v, call{method: http.MethodPost, path: apiRoot + "emergency/" + action, body: order}, nil); problem != nil {
		page := c.emergencyPage(v)
		page.Problem, page.Typed = problem, note
		c.render(v, problem.Status, "emergency", page)
		return
	}
	v.redirect(emergencyPath + "?done=" + action)
}

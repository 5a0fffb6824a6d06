package timers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// picked is a timer that was selected in a list, as it was shown there.
type picked struct {
	calls.Key
	Revision, Round int
	WebhookID       string
}

// parsePicked reads what a box has sent.
func parsePicked(text string) (p picked, ok bool) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return p, false
	}
	businessType, id, named := strings.Cut(parts[0], "/")
	revision, err := strconv.Atoi(parts[1])
	round, err2 := strconv.Atoi(parts[2])
	p = picked{Key: calls.Key{BusinessType: businessType, BusinessID: id}, Revision: revision, Round: round, WebhookID: parts[3]}
	return p, named && err == nil && err2 == nil
}

// selectedPage asks whether an action is meant for the timers that were selected, and then says
// what became of each.
type selectedPage struct {
	site.Frame
	Action string
	// Picks are what the boxes have sent, to be sent again.
	Picks []string
	Rows  []selectedRow
	// Done reports whether it was carried out.
	Done bool
	// Back leads to the list.
	Back string
	// Typed is what stood in the form.
	Typed url.Values
}

// Asks reports whether the form is shown: before anything is done, and for what was refused because of what
// was typed.
func (p *selectedPage) Asks() bool { return !p.Done || len(p.Picks) > 0 }

// selectedRow is one timer, and what became of it.
type selectedRow struct {
	picked
	// Accepted reports whether it is durable and takes effect by itself, Changed whether it was
	// another one than was shown, and Problem why it was not done.
	Accepted, Changed bool
	Problem           *calls.Problem
	// TooLate is a key of the catalogues: how it had ended before; "" if it had not.
	TooLate string
	// Meanwhile are the changes that were made since it was shown.
	Meanwhile []calls.Entry
}

// Succeeded are how many were done.
func (p *selectedPage) Succeeded() int {
	return len(calls.Where(p.Rows, func(row selectedRow) bool { return row.Problem == nil && !row.Changed }))
}

// changeSelected does one thing with some timers of a list. It asks first.
func (c *Pages) changeSelected(v *site.Visit) {
	if err := v.R.ParseForm(); err != nil {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	act, ok := actionNamed(v.R.PostFormValue("action"))
	page := &selectedPage{Action: act.Name, Picks: v.R.PostForm["row"], Typed: v.R.PostForm, Back: links.Within(v.R.PostFormValue("back"))}
	for _, text := range page.Picks {
		one, understood := parsePicked(text)
		ok = ok && understood
		page.Rows = append(page.Rows, selectedRow{picked: one})
	}
	if !ok || len(page.Rows) == 0 || len(page.Rows) > site.PageSize {
		c.Refuse(v, http.StatusBadRequest, "refused.selection")
		return
	}
	if page.Done = v.R.PostFormValue("sure") != ""; page.Done {
		selection{c, v, act}.change(page.Rows)
		page.Picks = picksToAmend(page.Picks, page.Rows)
		c.Watch.Changed()
	}
	page.Frame = c.Frame(v, "selected.title")
	c.Render(v, http.StatusOK, "selected", page)
}

// picksToAmend are those whose change was refused because of what was typed.
func picksToAmend(picks []string, rows []selectedRow) (wrong []string) {
	for i, row := range rows {
		if row.Problem != nil && row.Problem.Status == http.StatusUnprocessableEntity {
			wrong = append(wrong, picks[i])
		}
	}
	return wrong
}

// selection is what is done with selected timers.
type selection struct {
	*Pages

	v   *site.Visit
	act action
}

// change makes a call for each timer. What one answers is nothing to the others.
func (s selection) change(rows []selectedRow) {
	var group errgroup.Group
	group.SetLimit(tuning.SelectedAtOnce)
	for i := range rows {
		group.Go(func() error {
			s.changeOne(&rows[i])
			return nil
		})
	}
	_ = group.Wait() // none fails
}

// unmet is the refusal that a change has of a timer that is another one than was shown.
var unmet = &calls.Problem{Status: http.StatusPreconditionFailed}

// changeOne changes a timer if it is still the one that was shown.
func (s selection) changeOne(row *selectedRow) {
	var now calls.Timer
	path := row.Resource()
	shown, problem := s.Call(s.v, calls.Get(path), &now)
	if row.Problem = problem; problem != nil && problem.Status != http.StatusForbidden {
		s.refuse(*row)
		return
	}
	if problem == nil && (now.Revision != row.Revision || now.Round != row.Round || now.WebhookID != row.WebhookID) {
		row.Changed = true
		if !s.act.where(now) {
			row.TooLate = tooLate(unmet, now)
		}
		told, _ := s.storyOf(s.v, path) // that it was changed is what matters
		row.Meanwhile = since(told.Entries, row.seen(now))
		s.refuse(*row)
		return
	}
	// Who may not read the timer may not change it either: the API refuses that, and records it.
	made := changeOf(s.act, row.Key, formOf(s.v.R.PostForm, shown.Head.Get("ETag")))
	var left calls.Timer
	a, problem := s.Call(s.v, made, &left)
	row.Problem = problem
	row.Accepted = problem == nil && a.Status == http.StatusAccepted
}

// seen is the revision that was shown of what the timer is by now; 0 for another booking, as far as the
// revisions tell: those of each begin at 1.
func (row selectedRow) seen(now calls.Timer) int {
	if now.Revision < row.Revision {
		return 0
	}
	return row.Revision
}

// refuse has the audit record a change that was not sent.
func (s selection) refuse(row selectedRow) {
	refused := audit.Refusal{Status: unmet.Status}
	refused.Route, refused.Action = links.Root+selectedPath, s.act.Name
	refused.BusinessType, refused.BusinessID = row.BusinessType, row.BusinessID
	if row.Problem != nil {
		refused.Status = row.Problem.Status
	}
	s.v.RefusePart(refused)
}

// formOf is a form with the ETag of one timer.
func formOf(form url.Values, etag string) url.Values {
	one := url.Values{}
	for _, name := range []string{"delay", "at", "offset", "note", "url"} {
		one[name] = slices.Clone(form[name])
	}
	if etag != "" {
		one.Set("etag", etag)
	}
	return one
}

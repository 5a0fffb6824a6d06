package timers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/words"
)

// changeTimer makes one change of a timer, and leads back to its page. What the API refuses is
// shown in its words, above the timer as it is by now.
func (c *Pages) changeTimer(v *site.Visit) {
	act, ok := actionNamed(v.R.PathValue("action"))
	if !ok {
		c.Absent(v)
		return
	}
	if err := v.R.ParseForm(); err != nil {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	key := keyIn(v.R)
	made := changeOf(act, key, v.R.PostForm)
	if made.IfMatch == "" { // it was made for nothing that was shown
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	var left calls.Timer
	a, problem := c.Call(v, made, &left)
	switch {
	case problem != nil:
		c.showRefusal(v, act, problem)
	case a.Status == http.StatusAccepted:
		v.Redirect(key.Path() + "?done=accepted")
	default:
		v.Redirect(key.Path() + "?done=" + act.Name)
	}
}

// showRefusal shows the timer as it is, with why it was not changed.
func (c *Pages) showRefusal(v *site.Visit, act action, problem *calls.Problem) {
	page, unread := c.timerPage(v)
	if unread != nil {
		c.RefuseBy(v, problem)
		return
	}
	page.Refusal = site.Refusal{Problem: problem, Typed: v.R.PostForm}
	for i := range page.Actions {
		page.Actions[i].Refused = page.Actions[i].Name == act.Name
	}
	if !act.where(page.Timer) {
		page.TooLate = tooLate(problem, page.Timer)
	}
	addMeanwhile(&page.Refusal, page.Story, page.ETag, page.Timer)
	c.Render(v, problem.Status, "timer", page)
}

// changeOf is the call that an action stands for.
func changeOf(act action, key calls.Key, form url.Values) calls.Call {
	made := calls.Call{
		Method: http.MethodPost, Path: key.Resource(), IfMatch: form.Get("etag"),
	}
	switch act.Name {
	case "cancel":
		made.Method = http.MethodDelete
	case "move":
		made.Method, made.Body = http.MethodPatch, moveOf(form)
	case "edit":
		made.Method, made.Body = http.MethodPatch, map[string]any{"callback": map[string]string{"url": strings.TrimSpace(form.Get("url"))}}
	case "pause", "resume":
		made.Path += "/" + act.Name
		if note := strings.TrimSpace(form.Get("note")); note != "" {
			made.Body = map[string]string{"note": note}
		}
	default:
		made.Path += "/" + act.Name
	}
	return made
}

// moveOf is when the timer is to ring: after a delay, or at a time. The API judges it.
func moveOf(form url.Values) map[string]string {
	delay, at := strings.TrimSpace(form.Get("delay")), strings.TrimSpace(form.Get("at"))
	move := map[string]string{}
	if delay != "" {
		move["delay"] = delay
	}
	if at != "" {
		move["due_at"] = instantOf(at, form.Get("offset"))
	}
	return move
}

// instantOf is what a browser sends of a field for a time, as the API writes it; another text is
// left as it is. offset is by how many minutes the zone of the browser is behind UTC at that time. A
// page without script sends none, and means UTC.
func instantOf(text, offset string) string {
	minutes, _ := strconv.Atoi(offset)
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return words.ISO(at.Add(time.Duration(minutes) * time.Minute))
		}
	}
	return text
}

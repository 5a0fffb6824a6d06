package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// changeTimer makes one change of a timer, and leads back to its page. What the API refuses is
// shown in its words, above the timer as it is by now.
func (c *timerPages) changeTimer(v *visit) {
	act, ok := actionNamed(v.R.PathValue("action"))
	if !ok {
		c.absent(v)
		return
	}
	if err := v.R.ParseForm(); err != nil {
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	key := Key{v.R.PathValue("type"), v.R.PathValue("id")}
	made := changeOf(act, key, v.R.PostForm)
	if made.ifMatch == "" && !act.unconditional { // it was made for nothing that was shown
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	var left Timer
	a, problem := c.call(v, made, &left)
	switch {
	case problem != nil:
		c.tellRefusal(v, problem)
	case a.status == http.StatusAccepted:
		v.redirect(key.Path() + "?done=accepted")
	default:
		v.redirect(key.Path() + "?done=" + act.Name)
	}
}

// tellRefusal shows the timer as it is, with why it was not changed.
func (c *timerPages) tellRefusal(v *visit, problem *Problem) {
	page, unread := c.timerPage(v)
	if unread != nil {
		c.refuseBy(v, problem)
		return
	}
	page.Problem, page.Typed = problem, v.R.PostForm
	c.render(v, problem.Status, "timer", page)
}

// changeOf is the call that an action stands for.
func changeOf(act action, key Key, form url.Values) call {
	made := call{method: http.MethodPost, path: timerPath(apiRoot, key.BusinessType, key.BusinessID)}
	if !act.unconditional {
		made.ifMatch = form.Get("etag")
	}
	switch act.Name {
	case "cancel":
		made.method = http.MethodDelete
	case "move":
		made.method, made.body = http.MethodPatch, moveOf(form)
	case "pause", "resume":
		made.path += "/" + act.Name
		if note := strings.TrimSpace(form.Get("note")); note != "" {
			made.body = map[string]string{"note": note}
		}
	default:
		made.path += "/" + act.Name
	}
	return made
}

// moveOf is when the timer is to ring: after a delay, or at a time in UTC. The API judges it.
func moveOf(form url.Values) map[string]string {
	delay, at := strings.TrimSpace(form.Get("delay")), strings.TrimSpace(form.Get("at"))
	move := map[string]string{}
	if delay != "" {
		move["delay"] = delay
	}
	if at != "" {
		move["due_at"] = instantOf(at)
	}
	return move
}

// instantOf is what a browser sends of a field for a time, as the API writes it; another text
// is left as it is.
func instantOf(text string) string {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return iso(at)
		}
	}
	return text
}

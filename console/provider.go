package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/tuning"
)

// begun is a sign-in at the identity provider that has not ended.
type begun struct {
	oidc.Attempt
	Next string    `json:"next"`
	Ends time.Time `json:"ends"`
}

// redirectToProvider sends the browser to the identity provider. The browser itself keeps what finishSignIn
// needs.
func (c *signInPages) redirectToProvider(v *site.Visit) {
	if c.Sessions.SignIn == nil {
		c.Absent(v)
		return
	}
	next := links.Within(v.R.FormValue("next"))
	to, attempt, err := c.Sessions.SignIn.Begin(v.R.Context(), c.callback(v))
	if err != nil {
		c.refuseSignIn(v, next, err)
		return
	}
	ends := c.Now().Add(tuning.SignInLife)
	kept := begun{Attempt: attempt, Next: next, Ends: ends}
	if err := c.Sessions.Remember(v.Exchange, sessions.OfSignIn, kept, ends); err != nil {
		c.refuseBroken(v, err)
		return
	}
	v.Redirect(to)
}

// callback is where the provider sends the browser back to. The provider must know it.
func (c *signInPages) callback(v *site.Visit) string {
	return c.Base(v) + links.Root + "login/callback"
}

// finishSignIn signs in a user that the provider has sent back.
func (c *signInPages) finishSignIn(v *site.Visit) {
	if c.Sessions.SignIn == nil {
		c.Absent(v)
		return
	}
	attempt, err := c.recallSignIn(v)
	if err != nil {
		c.refuseSignIn(v, links.Within(attempt.Next), err)
		return
	}
	c.Sessions.Forget(v.Exchange, sessions.OfSignIn)
	next := links.Within(attempt.Next)
	person, err := c.finish(v, attempt)
	if err != nil {
		c.refuseSignIn(v, next, err)
		return
	}
	who := c.Sessions.SignIn.Principal(person)
	if !who.MaySomewhere(auth.Viewer) {
		c.Logger.Info("a user without a role was refused at the console", "name", who.Name, "subject", who.ID)
		c.showRefusedLogin(v, next, http.StatusForbidden, v.Lang.Say("login.norole", who.Name))
		return
	}
	if err := c.Sessions.Begin(v.Exchange, sessions.Session{Person: &person}, who); err != nil {
		c.refuseBroken(v, err)
		return
	}
	v.Redirect(next)
}

// recallSignIn returns what the browser has kept of a sign-in. The error wraps [auth.ErrUnknown].
func (c *signInPages) recallSignIn(v *site.Visit) (attempt begun, err error) {
	if err := c.Sessions.Recall(v.Exchange, sessions.OfSignIn, &attempt); err != nil {
		return attempt, fmt.Errorf("%w: its browser has no sign-in that was begun here: %w", auth.ErrUnknown, err)
	}
	if !c.Now().Before(attempt.Ends) {
		return attempt, fmt.Errorf("%w: its sign-in was begun more than %s ago", auth.ErrUnknown, tuning.SignInLife)
	}
	return attempt, nil
}

func (c *signInPages) finish(v *site.Visit, attempt begun) (oidc.Person, error) {
	query := v.R.URL.Query()
	back := oidc.Back{Code: query.Get("code"), State: query.Get("state"), Error: query.Get("error")}
	return c.Sessions.SignIn.Finish(v.R.Context(), c.callback(v), back, attempt.Attempt)
}

// refuseSignIn shows the page of the sign-in with what went wrong. What exactly is for the log. Another try
// leads to the same page.
func (c *signInPages) refuseSignIn(v *site.Visit, next string, err error) {
	c.Logger.Info("a sign-in at the console was refused", "from", c.Sessions.Client(v.R), "error", err)
	if errors.Is(err, auth.ErrNoProvider) || errors.Is(err, context.DeadlineExceeded) {
		c.showRefusedLogin(v, next, http.StatusServiceUnavailable, v.Lang.Say("login.noprovider"))
		return
	}
	c.showRefusedLogin(v, next, http.StatusForbidden, v.Lang.Say("login.notsigned"))
}

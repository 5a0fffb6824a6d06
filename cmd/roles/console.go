package roles

import (
	"cmp"
	"context"
	"net/http"

	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/tuning"
)

// console returns the handler that adds the console to the API; nil if it is off.
func (a *App) console() (func(stopping context.Context, calls http.Handler) http.Handler, error) {
	mode := site.Mode(cmp.Or(a.Config.Console, string(site.On)))
	if mode == config.ConsoleOff {
		return nil, nil
	}
	pages, err := console.New(console.Options{
		Mode: mode, Look: site.Look{
			Name: a.Config.Name, Colour: a.Config.ConsoleColour, Contact: a.Config.ConsoleContact, Command: a.Command,
		},
		SignIn: a.signIn.browser(oidc.Client{ID: a.Config.OIDCClientID, Secret: a.Config.OIDCClientSecret}),
		Auth:   a.signIn.Authenticator, Box: a.box, Proxies: a.Config.Proxies, Logger: a.Logger,
		Pace:     watch.Shipped(),
		Timeouts: site.Timeouts{Page: tuning.PageWait, Part: tuning.PartWait, Brief: tuning.BriefWait},
	})
	if err != nil {
		return nil, err
	}
	return pages.Handler, nil
}

package site

import (
	"log/slog"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/watch"
)

// Mode is what the console lets people do.
type Mode string

// The modes of a console.
const (
	On       Mode = "on"
	ReadOnly Mode = "read-only"
)

// Look distinguishes installations for their users.
type Look struct {
	// Name is the name of the installation. Colour is the colour of the bar beneath it, one that the style sheet knows.
	Name, Colour string
	// Contact names who grants rights; "" for none.
	Contact string
	// Command is how the command line is called where people look; "" for wakecall.
	Command string
}

// Site is what all pages share: sessions, the calls of the API, and the frame around them.
type Site struct {
	Mode     Mode
	Look     Look
	Sessions *sessions.Sessions
	Logger   *slog.Logger
	// Now is the clock.
	Now func() time.Time
	calls.Sender
	// Watch looks at the whole installation.
	Watch *watch.Watch
	// Templates are the pages.
	Templates Templates
	Timeouts  Timeouts
	memory    *memory
	drawings  *drawings
}

// WithAPI returns the site with an API, which its pages call.
func (c Site) WithAPI(api calls.Sender, pace watch.Pace) Site {
	c.Sender, c.Watch, c.memory, c.drawings = api, watch.New(api, pace, c.Now), newMemory(), newDrawings()
	return c
}

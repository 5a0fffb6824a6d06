package site

import (
	"bytes"
	"html/template"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// drawings caches the plots of loaded pages. Visitors with the same rights share the plots of a page. It is safe
// for concurrent use.
type drawings struct {
	mu   sync.Mutex
	kept map[string]drawing
}

// drawing is the plots of a page. changes is the number of changes that had been made here.
type drawing struct {
	html    template.HTML
	at      time.Time
	changes int
}

func newDrawings() *drawings { return &drawings{kept: map[string]drawing{}} }

func (d *drawings) put(key string, drawn drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.kept) >= tuning.KeptDrawings {
		clear(d.kept)
	}
	d.kept[key] = drawn
}

func (d *drawings) get(key string) (drawing, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	drawn, ok := d.kept[key]
	return drawn, ok
}

// Drawn is the plots of a loaded page. They are up to [tuning.LivePlots] old, as those of an open page. Page
// makes the page that has them, and reports whether they are whole: only those are kept.
func (c *Site) Drawn(v *Visit, name string, page func() (any, bool)) template.HTML {
	key, changes := Scope(v.Who)+" "+string(v.Lang)+" "+v.page(), c.Watch.Changes()
	if last, ok := c.drawings.get(key); ok && last.changes == changes && c.Now().Sub(last.at) < tuning.LivePlots {
		return last.html
	}
	shown, whole := page()
	var body bytes.Buffer
	if err := c.Templates[name].ExecuteTemplate(&body, partDrawn, shown); err != nil {
		c.Logger.Error("the plots of a page cannot be shown", "page", name, "error", err)
		return ""
	}
	html := template.HTML(body.String()) //nolint:gosec // a template has escaped it
	if shown := v.reads.shown(); whole && !shown.old && !shown.behind {
		c.drawings.put(key, drawing{html, c.Now(), changes})
	}
	return html
}

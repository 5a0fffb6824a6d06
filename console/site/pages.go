package site

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
)

//go:embed templates/*.html
var templates embed.FS

// pageNames are the pages. Each has a template of its own, within that of the layout.
var pageNames = []string{
	"again", "audit", "dispatch", "dispatches", "emergency", "forecast", "health", "job", "jobs", "login", "overview", "payload", "plan",
	"refused", "rule", "selected", "test", "timers", "timer", "type", "types",
}

// sharedTemplates are the templates that several pages use, the layout first.
var sharedTemplates = []string{
	"templates/layout.html", "templates/typetable.html", "templates/tiles.html", "templates/plots.html",
	"templates/live.html", "templates/author.html", "templates/all.html",
}

// Templates are the templates of the pages, by name.
type Templates map[string]*template.Template

// ParseTemplates reads the templates of all pages.
func ParseTemplates() (Templates, error) {
	functions := template.FuncMap{"iso": words.ISO, "utc": words.UTC, "pair": newPair}
	layout, err := template.New("layout.html").Funcs(functions).ParseFS(templates, sharedTemplates...)
	if err != nil {
		return nil, err
	}
	all := Templates{}
	for _, name := range pageNames {
		page, err := layout.Clone()
		if err != nil {
			return nil, err
		}
		if all[name], err = page.ParseFS(templates, "templates/"+name+".html"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pair is a page with something of it, for the templates that show that.
type pair struct {
	Page any
	Of   any
}

func newPair(page, of any) pair { return pair{page, of} }

// Frame is what every page has around it. Its methods have pointers as receivers, as those of the pages have.
// Otherwise the binary would have a copy of each method for each page.
type Frame struct {
	words.Speech
	Title string
	Look  Look
	Theme string
	// KeysOff reports whether single keys do nothing.
	KeysOff bool
	Who     *auth.Principal
	SignsIn bool
	// Here is the page itself, for what leads back to it.
	Here string
	// Search is what stands in the search box.
	Search string
	// tab is the part of the console that the page belongs to.
	tab     string
	Picture *watch.Picture
	strip
	// Stream is the address of what keeps the page up to date; "" for nothing.
	Stream string
	mode   Mode
	reads  *reads
}

// Frame is made for a page whose title has a key in the catalogues.
func (c *Site) Frame(v *Visit, title string) Frame {
	f := Frame{
		Speech: words.Speech{Lang: v.Lang, Now: c.Now(), Still: v.Part}, Title: v.Lang.Say(title),
		Look: c.Look, Theme: themeOf(v.R), KeysOff: keysOff(v.R),
		Who: v.Who, SignsIn: c.Sessions.Auth.AsksForKeys(),
		Here: v.here(), mode: c.Mode, reads: v.reads,
	}
	if v.R.Method != http.MethodGet && v.R.Method != http.MethodHead {
		f.Here = links.Parent(v.R.URL.EscapedPath())
	}
	if v.Who != nil && !v.Part {
		f.Stream = streamOf(v)
	}
	f.tab, _, _ = strings.Cut(strings.TrimPrefix(v.R.URL.Path, links.Root), "/")
	if f.Picture = (&watch.Picture{}); v.Who != nil {
		f.Picture = c.Picture(v)
		f.strip = stripOf(f.Picture)
	}
	return f
}

// Lives reports whether the stream brings the page itself, and not only the strip.
func (f *Frame) Lives() bool { return strings.Contains(f.Stream, "page=") }

// Reread is the address that brings a part which the page could not read; "" if its stream brings it.
func (f *Frame) Reread() string {
	if f.Stream == "" || f.Lives() {
		return ""
	}
	return f.Here
}

// Hints are suggestions for the search box.
func (f *Frame) Hints() []string {
	var types []string
	for _, policy := range f.Picture.Types() {
		types = append(types, policy.BusinessType)
	}
	return search.Hints(types)
}

// Fixed says why no visitor can change anything now, and names the contact if that is on purpose; "" if changes are
// possible.
func (f *Frame) Fixed() string {
	switch {
	case f.mode != On:
		return f.Asking(f.T("actions.readonly"))
	case f.Picture.EngineAway():
		return f.T("actions.away")
	default:
		return ""
	}
}

// Old reports whether the page shows a former answer in place of one that cannot be read now.
func (f *Frame) Old() bool { return f.reads.shown().old }

// Age tells the user that the page shows former answers; "" if it shows none.
func (f *Frame) Age() string {
	switch shown := f.reads.shown(); {
	case shown.old:
		return f.T("unread.old")
	case shown.behind:
		return f.T("unread.anew")
	default:
		return ""
	}
}

// Since is when the oldest of those answers was given; the zero time if that is not known.
func (f *Frame) Since() time.Time { return f.reads.shown().since }

// Refresh reports whether the page reloads by itself, because more of it is known soon.
func (f *Frame) Refresh() bool { return f.reads.shown().behind || f.Who != nil && f.Picture.Unseen() }

// Adjustable reports whether language and theme can be chosen.
func (f *Frame) Adjustable() bool { return true }

// Languages are the languages to choose from.
func (f *Frame) Languages() []words.Language { return words.Languages }

// Themes are the themes to choose from.
func (f *Frame) Themes() []string { return themes }

// Render writes a page. One that cannot be written whole is not begun.
func (c *Site) Render(v *Visit, status int, name string, page any) {
	whole := "layout.html"
	if v.Part {
		if whole = partPage; status != http.StatusOK {
			v.W.WriteHeader(status) // the page stays as it was
			return
		}
	}
	var body bytes.Buffer
	if err := c.Templates[name].ExecuteTemplate(&body, whole, page); err != nil {
		c.Logger.Error("a page of the console cannot be shown", "page", name, "error", err)
		http.Error(v.W, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	v.markPartial(page)
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.W.Header().Set("Content-Language", string(v.Lang))
	v.W.Header().Set("Vary", "Accept-Encoding, Accept-Language, Cookie")
	v.write(status, body.Bytes())
}

// RenderPlots writes the plots of a page, to take the place of those that it had.
func (c *Site) RenderPlots(v *Visit, name string, page any) {
	var body bytes.Buffer
	if err := c.Templates[name].ExecuteTemplate(&body, partPlots, page); err != nil {
		c.Logger.Error("the plots of a page cannot be shown", "page", name, "error", err)
		v.W.WriteHeader(http.StatusInternalServerError)
		return
	}
	v.markPartial(page)
	v.write(http.StatusOK, body.Bytes())
}

// refusedPage says why there is no other page.
type refusedPage struct {
	Frame
	Reason string
	// Problem is what the API says; nil where it was not asked.
	Problem *calls.Problem
	// forbidden reports whether it is there for others.
	forbidden bool
	// plain reports whether that is for plain HTTP: no form is taken either.
	plain bool
}

// Adjustable overrides that of [Frame].
func (p *refusedPage) Adjustable() bool { return !p.plain }

// Refresh reports whether the page may be there soon.
func (p *refusedPage) Refresh() bool {
	return p.Problem != nil && p.Problem.Status >= http.StatusInternalServerError
}

// Refuse shows a page that says why there is no other, by a key of the catalogues.
func (c *Site) Refuse(v *Visit, status int, key string) {
	(&refusedPage{Reason: v.Lang.Say(key)}).show(c, v, status)
}

// RefusePlain says that the console is reached by HTTPS.
func (c *Site) RefusePlain(v *Visit) {
	(&refusedPage{Reason: v.Lang.Say("refused.plain"), plain: true}).show(c, v, http.StatusForbidden)
}

// Absent says that there is no such page.
func (c *Site) Absent(v *Visit) { c.Refuse(v, http.StatusNotFound, "refused.absent") }

// RefuseBy shows what the API says.
func (c *Site) RefuseBy(v *Visit, problem *calls.Problem) {
	(&refusedPage{Problem: problem}).show(c, v, problem.Status)
}

// show answers with the page.
func (p *refusedPage) show(c *Site, v *Visit, status int) {
	_ = v.R.ParseForm() // the record of a form is made after the answer: nothing of it can be read then
	p.Frame, p.forbidden = c.Frame(v, "refused.title"), status == http.StatusForbidden
	c.Render(v, status, "refused", p)
}

package console

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/internal/auth"
)

//go:embed templates/*.html
var templates embed.FS

// pageNames are the pages. Each has a template of its own, within that of the layout.
var pageNames = []string{"again", "dispatch", "dispatches", "emergency", "forecast", "health", "job", "jobs", "login", "overview", "plan", "refused", "selected", "timers", "timer", "type", "types"}

// sharedTemplates are those that several pages use, the layout first.
var sharedTemplates = []string{"templates/layout.html", "templates/typetable.html", "templates/tiles.html", "templates/chart.html"}

type pages map[string]*template.Template

func parsePages() (pages, error) {
	layout, err := template.New("layout.html").Funcs(template.FuncMap{"iso": iso, "utc": utc, "clock": clock, "pair": newPair}).ParseFS(templates, sharedTemplates...)
	if err != nil {
		return nil, err
	}
	all := pages{}
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

// frame is what every page has around it.
type frame struct {
	Speech
	Title   string
	Look    Look
	Theme   string
	Styles  string
	Who     *auth.Principal
	SignsIn bool
	// Here is the page itself, for what leads back to it.
	Here string
	// Search is what stands in the search box.
	Search string
	// tab is the part of the console that the page belongs to.
	tab     string
	picture *picture
	notices []notice
}

// frame is made for a page whose title has a key in the catalogues.
func (c *Site) frame(v *visit, title string) frame {
	f := frame{
		Speech: Speech{Lang: v.lang, Now: c.Now()}, Title: v.lang.say(title), Look: c.Look, Theme: themeOf(v.R), Styles: stylesPath, Who: v.who, SignsIn: c.Sessions.Auth.AsksForKeys(),
		Here: v.R.URL.RequestURI(),
	}
	if v.R.Method != http.MethodGet && v.R.Method != http.MethodHead {
		f.Here = parent(v.R.URL.EscapedPath())
	}
	f.tab, _, _ = strings.Cut(strings.TrimPrefix(v.R.URL.Path, Root), "/")
	if f.picture = (&picture{}); v.who != nil {
		f.picture = c.Watch.picture(v.R.Context()).seenBy(v.who)
		f.notices = noticesOf(f.picture)
	}
	return f
}

// Refresh reports whether the page is to be shown anew by itself: what it shows goes on.
func (f frame) Refresh() bool { return false }

// Languages are those that may be chosen.
func (f frame) Languages() []language { return languages }

// Themes are those that may be chosen.
func (f frame) Themes() []string { return themes }

// render writes a page. One that cannot be written whole is not begun.
func (c *Site) render(v *visit, status int, name string, page any) {
	var body bytes.Buffer
	if err := c.Templates[name].ExecuteTemplate(&body, "layout.html", page); err != nil {
		c.Logger.Error("a page of the console cannot be shown", "page", name, "error", err)
		http.Error(v.W, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.W.Header().Set("Content-Language", string(v.lang))
	v.W.Header().Set("Vary", "Accept-Language, Cookie")
	v.W.WriteHeader(status)
	_, _ = v.W.Write(body.Bytes())
}

// refusedPage says why there is no other page.
type refusedPage struct {
	frame
	Reason string
	// Problem is what the API says; nil where it was not asked.
	Problem *Problem
}

func (c *Site) refuse(v *visit, status int, key string) {
	c.render(v, status, "refused", refusedPage{frame: c.frame(v, "refused.title"), Reason: v.lang.say(key)})
}

// absent says that there is no such page.
func (c *Site) absent(v *visit) { c.refuse(v, http.StatusNotFound, "refused.absent") }

// refuseBy shows what the API says.
func (c *Site) refuseBy(v *visit, problem *Problem) {
	c.render(v, problem.Status, "refused", refusedPage{frame: c.frame(v, "refused.title"), Problem: problem})
}

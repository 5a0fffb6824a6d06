package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

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
	lang    language
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
	now     time.Time
}

// frame is made for a page whose title has a key in the catalogues.
func (c *Console) frame(v *visit, title string) frame {
	f := frame{
		lang: v.lang, Title: v.lang.say(title), Look: c.Look, Theme: themeOf(v.r), Styles: stylesPath, Who: v.who, SignsIn: c.Auth.AsksForKeys(),
		Here: v.r.URL.RequestURI(), now: c.Now(),
	}
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		f.Here = parent(v.r.URL.EscapedPath())
	}
	f.tab, _, _ = strings.Cut(strings.TrimPrefix(v.r.URL.Path, Root), "/")
	if f.picture = (&picture{}); v.who != nil {
		f.picture = c.watch.picture(v.r.Context()).seenBy(v.who)
		f.notices = noticesOf(f.picture)
	}
	return f
}

// T says something in the language of the page.
func (f frame) T(key string, with ...any) string { return f.lang.say(key, with...) }

// N says how many there are of something.
func (f frame) N(key string, n int) string { return f.lang.count(key, n) }

// Lang is the language as HTML names it.
func (f frame) Lang() string { return string(f.lang) }

// Refresh reports whether the page is to be shown anew by itself: what it shows goes on.
func (f frame) Refresh() bool { return false }

// Now is when the page was made.
func (f frame) Now() time.Time { return f.now }

// Languages are those that may be chosen.
func (f frame) Languages() []language { return languages }

// Themes are those that may be chosen.
func (f frame) Themes() []string { return themes }

// render writes a page. One that cannot be written whole is not begun.
func (c *Console) render(v *visit, status int, name string, page any) {
	var body bytes.Buffer
	if err := c.pages[name].ExecuteTemplate(&body, "layout.html", page); err != nil {
		c.Logger.Error("a page of the console cannot be shown", "page", name, "error", err)
		http.Error(v.w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Language", string(v.lang))
	v.w.Header().Set("Vary", "Accept-Language, Cookie")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body.Bytes())
}

// refusedPage says why there is no other page.
type refusedPage struct {
	frame
	Reason string
	// Problem is what the API says; nil where it was not asked.
	Problem *Problem
}

func (c *Console) refuse(v *visit, status int, key string) {
	c.render(v, status, "refused", refusedPage{frame: c.frame(v, "refused.title"), Reason: v.lang.say(key)})
}

// refuseBy shows what the API says.
func (c *Console) refuseBy(v *visit, problem *Problem) {
	c.render(v, problem.Status, "refused", refusedPage{frame: c.frame(v, "refused.title"), Problem: problem})
}

// The themes, of which the first is what the system says.
var themes = []string{"system", "light", "dark"}

const (
	cookieTheme    = "wakecall-theme"
	cookieLanguage = "wakecall-lang"
)

func isTheme(name string) bool {
	return strings.Contains(" "+strings.Join(themes, " ")+" ", " "+name+" ") && name != ""
}

func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieTheme); err == nil && isTheme(cookie.Value) {
		return cookie.Value
	}
	return themes[0]
}

// list is the address of a list with a search.
func list(search, token string) string {
	query := url.Values{}
	if search != "" {
		query.Set("q", search)
	}
	if token != "" {
		query.Set("page_token", token)
	}
	if len(query) == 0 {
		return Root + "timers"
	}
	return fmt.Sprintf("%stimers?%s", Root, query.Encode())
}

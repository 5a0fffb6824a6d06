package console

import (
	"context"
	"fmt"
	"net/http"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/live"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// partsMux routes to the live pages, and plotsMux to their plots. The handlers take the caller from the request's
// context.
func partsMux(all []site.Route) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range all {
		if r.Every > 0 {
			mux.Handle(r.Method+" "+links.Root+r.Path, part{r})
		}
	}
	return mux
}

func plotsMux(all []site.Route) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range all {
		if r.Draws != nil {
			mux.HandleFunc(r.Method+" "+links.Root+r.Path, func(w http.ResponseWriter, request *http.Request) { show(r.Draws, w, request) })
		}
	}
	return mux
}

// part answers with the changing part of a page.
type part struct{ site.Route }

// ServeHTTP implements [http.Handler].
func (p part) ServeHTTP(w http.ResponseWriter, r *http.Request) { show(p.Do, w, r) }

// show renders a part of a page.
func show(do func(*site.Visit), w http.ResponseWriter, r *http.Request) {
	v := site.NewVisit(w, r)
	v.Who, v.Part = auth.Caller(r.Context()), true
	do(v)
}

// follow keeps an open page up to date: the strip, and the page that the request names.
func (c *Console) follow(v *site.Visit) {
	if v.Who == nil {
		v.Part = true
		live.End(v.W, c.site.SignedOut(v))
		return
	}
	scope := site.Scope(v.Who)
	topics := []live.Topic{{
		Key: "strip " + string(v.Lang) + " " + scope, Every: tuning.LiveStrip, Render: c.strip(v),
	}}
	if page := v.R.FormValue("page"); page != "" {
		topics = append(topics, c.page(v, links.Within(page), scope)...)
	}
	stays := func() bool {
		who := c.site.Sessions.Recognise(sessions.Exchange{W: nowhere{}, R: v.R})
		return who != nil && site.Scope(who) == scope && (who.Ends.IsZero() || c.site.Now().Before(who.Ends))
	}
	c.hub.Serve(v.W, v.R, stays, topics...)
}

// viewer returns the principal that a live page is rendered for. It has the rights of who. No live page asks for
// a payload.
func viewer(who *auth.Principal) *auth.Principal {
	return &auth.Principal{Name: "console", By: auth.ByNothing, Via: auth.ViaConsole, Grants: who.Grants}
}

// strip returns the rendering of the state strip, which is on top of every page.
func (c *Console) strip(asked *site.Visit) func(context.Context) ([]byte, bool) {
	who, lang := viewer(asked.Who), asked.Lang
	return func(ctx context.Context) ([]byte, bool) {
		request, err := http.NewRequestWithContext(auth.With(ctx, who), http.MethodGet, links.Root, nil)
		if err != nil {
			return nil, true
		}
		v := site.NewVisit(nowhere{}, request)
		v.Who, v.Lang, v.Part = who, lang, true
		return c.site.Strip(v), true
	}
}

// page returns the topics of a page: its changing part, and its plots. A page that is not live has none.
func (c *Console) page(v *site.Visit, path, scope string) []live.Topic {
	p := livePage{visit: v, path: path, who: viewer(v.Who)}
	request, err := p.request(context.Background())
	if err != nil {
		return nil
	}
	handler, _ := c.parts.Handler(request)
	found, ok := handler.(part)
	if !ok {
		return nil
	}
	key := fmt.Sprint(path, " ", v.Lang, " ", c.site.Base(v), " ", scope)
	topics := []live.Topic{{Key: key, Every: found.Every, Lists: found.Lists, Render: p.renderedBy(c.parts)}}
	if found.Draws != nil {
		topics = append(topics, live.Topic{Key: "plots " + key, Every: tuning.LivePlots, Lists: true, Render: p.renderedBy(c.plots)})
	}
	return topics
}

// livePage is an open page, as it was asked for.
type livePage struct {
	visit *site.Visit
	path  string
	who   *auth.Principal
}

// request asks for the page in the context of a caller.
func (p livePage) request(ctx context.Context) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.path, nil)
	if err != nil {
		return nil, err
	}
	asked := p.visit.R
	request.Host, request.RemoteAddr, request.TLS = asked.Host, asked.RemoteAddr, asked.TLS
	request.Header["X-Forwarded-Proto"] = asked.Header.Values("X-Forwarded-Proto")
	request.Header.Set("Accept-Language", string(p.visit.Lang))
	return request, nil
}

// renderedBy returns the rendering of the page by a handler, as [live.Topic.Render] has it.
func (p livePage) renderedBy(handler http.Handler) func(context.Context) ([]byte, bool) {
	return func(ctx context.Context) ([]byte, bool) {
		request, err := p.request(auth.With(ctx, p.who))
		if err != nil {
			return nil, true
		}
		answer := &calls.Answer{Head: http.Header{}}
		if handler.ServeHTTP(answer, request); answer.Status != http.StatusOK {
			return nil, answer.Status < http.StatusInternalServerError
		}
		return answer.Body.Bytes(), site.IsWhole(answer.Head)
	}
}

// nowhere discards an answer.
type nowhere struct{}

// Header implements [http.ResponseWriter].
func (nowhere) Header() http.Header { return http.Header{} }

// Write implements [http.ResponseWriter].
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements [http.ResponseWriter].
func (nowhere) WriteHeader(int) {}

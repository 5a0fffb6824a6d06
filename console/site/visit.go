package site

import (
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
)

// Visit is one request, and who made it.
type Visit struct {
	sessions.Exchange
	// Who is the user that is signed in; nil for none. Calls of the API are made in this name.
	Who  *auth.Principal
	Lang words.Language
	// Live reports whether the page is kept up to date, and Part whether what is asked for is not the page
	// but what of it changes.
	Live, Part bool
	// requestID is the request id of the visit. Its calls, some of them concurrent, have the same one.
	requestID string
	began     time.Time
	reads     *reads
	// picture is what the visitor sees of the whole installation; nil until it is asked for.
	picture *watch.Picture
}

// NewVisit returns a visit whose user is not known yet.
func NewVisit(w http.ResponseWriter, r *http.Request) *Visit {
	return &Visit{
		Exchange: sessions.Exchange{W: w, R: r}, Lang: words.LanguageOf(r), requestID: w.Header().Get(headerRequestID),
		began: time.Now(), reads: &reads{made: map[string]int{}},
	}
}

// page is the method and the address of a request, without the parameters that do not change the content.
func (v *Visit) page() string {
	query := v.R.URL.Query()
	query.Del("done")
	query.Del("lang")
	return v.R.Method + " " + v.R.URL.EscapedPath() + "?" + query.Encode()
}

// here is that address for what leads back to it. What was done before is said once.
func (v *Visit) here() string { return links.Without(v.R.URL.RequestURI(), "done") }

// ByScript reports whether htmx asks, for a part of an open page, and not the browser for a whole page.
func (v *Visit) ByScript() bool { return v.R.Header.Get("HX-Request") != "" }

// Picture is what the visitor sees of the whole installation. It is the same for all of one visit.
func (c *Site) Picture(v *Visit) *watch.Picture {
	if v.picture == nil {
		v.picture = c.Watch.Picture(v.R.Context()).SeenBy(v.Who)
		if c.Watch.IsOld(v.picture) {
			v.reads.showBehind(v.picture.At)
		}
	}
	return v.picture
}

// Redirect leads to another page.
func (v *Visit) Redirect(to string) { http.Redirect(v.W, v.R, to, http.StatusSeeOther) }

// Done says what was done before the page was asked for, by a key that begins so; "" for nothing.
func (v *Visit) Done(prefix string) string { return v.DoneAs(prefix, "") }

// DoneAs is Done for a key with another end.
func (v *Visit) DoneAs(prefix, end string) string {
	key := prefix + v.R.FormValue("done") + end
	if text := v.Lang.Say(key); text != key {
		return text
	}
	return ""
}

// repeated are the headers of the visit that its calls repeat: whose they are is the same.
var repeated = []string{"X-Forwarded-For", "User-Agent"}

const headerRequestID = "X-Request-Id"

// request is a call as it is sent for a visit: from where, and by what, the visit came.
func (v *Visit) request(made calls.Call) (*http.Request, error) {
	request, err := made.Request(auth.With(v.R.Context(), v.Who))
	if err != nil {
		return nil, err
	}
	request.Host, request.RemoteAddr, request.TLS = v.R.Host, v.R.RemoteAddr, v.R.TLS
	for _, name := range repeated {
		if values := v.R.Header.Values(name); len(values) > 0 {
			request.Header[name] = values
		}
	}
	if v.requestID != "" { // the two lines of the log belong together
		request.Header.Set(headerRequestID, v.requestID)
	}
	return request, nil
}

// Call makes a call in the name of who is signed in, and reads the answer into to; nil for an
// answer without a body.
func (c *Site) Call(v *Visit, made calls.Call, to any) (*calls.Answer, *calls.Problem) {
	if made.Method == http.MethodGet && v.Who != nil {
		return c.read(v, made, to)
	}
	request, err := v.request(made)
	if err != nil {
		return nil, c.Broken(err)
	}
	return c.Send(request, to)
}

// FindTimers asks for one page of a list.
func (c *Site) FindTimers(v *Visit, query url.Values) (found calls.TimerPage, problem *calls.Problem) {
	_, problem = c.Call(v, calls.Get(calls.Root+"timers").With(query), &found)
	return found, problem
}

// PageSize is how many timers a page shows.
const PageSize = 50

// Bearer is the option by which curl says who calls; "" where the API does not ask.
func (f *Frame) Bearer() string {
	if !f.SignsIn {
		return ""
	}
	return ` -H "Authorization: Bearer $WAKECALL_API_KEY"`
}

// Base is the address by which the visitor knows this installation.
func (c *Site) Base(v *Visit) string {
	scheme := "http"
	if c.Sessions.Encrypted(v.R) {
		scheme = "https"
	}
	return scheme + "://" + v.R.Host
}

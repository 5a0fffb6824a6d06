package console

import (
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/internal/auth"
)

// visit is one request, and who made it.
type visit struct {
	Exchange
	// who is signed in, nil for nobody. It calls the API.
	who  *auth.Principal
	lang language
	// requestID is that of the visit in the log. Its calls, some of them concurrent, have the same.
	requestID string
}

// newVisit returns a visit of which nobody knows yet who made it.
func newVisit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Exchange: Exchange{w, r}, lang: languageOf(r), requestID: w.Header().Get(headerRequestID)}
}

func (v *visit) redirect(to string) { http.Redirect(v.W, v.R, to, http.StatusSeeOther) }

// done says what was done before the page was asked for, by a key that begins so; "" for nothing.
func (v *visit) done(prefix string) string {
	key := prefix + v.R.FormValue("done")
	if text := v.lang.say(key); text != key {
		return text
	}
	return ""
}

// repeated are the headers of the visit that its calls repeat: whose they are is the same.
var repeated = []string{"X-Forwarded-For", "User-Agent"}

const headerRequestID = "X-Request-Id"

// request is a call as it is sent for a visit: from where, and by what, the visit came.
func (v *visit) request(made call) (*http.Request, error) {
	request, err := made.request(auth.With(v.R.Context(), v.who))
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

// call makes a call in the name of who is signed in, and reads the answer into to; nil for an
// answer without a body.
func (c *Site) call(v *visit, made call, to any) (*answer, *Problem) {
	request, err := v.request(made)
	if err != nil {
		return nil, c.broken(err)
	}
	return c.send(request, to)
}

// foundTimers is one page of the API's list.
type foundTimers struct {
	Timers        []Timer `json:"timers"`
	NextPageToken string  `json:"next_page_token"`
}

// findTimers asks for one page of a list.
func (c *Site) findTimers(v *visit, query url.Values) (found foundTimers, problem *Problem) {
	_, problem = c.call(v, call{method: http.MethodGet, path: apiRoot + "timers", query: query}, &found)
	return found, problem
}

// pageSize is how many timers a page shows.
const pageSize = 50

// base is the address by which the visitor knows this installation.
func (c *Site) base(v *visit) string {
	scheme := "http"
	if c.Sessions.encrypted(v.R) {
		scheme = "https"
	}
	return scheme + "://" + v.R.Host
}

package console

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/internal/auth"
)

// call is a call of the API, as curl would make it.
type call struct {
	method, path string
	query        url.Values
	// ifMatch is the ETag of what the change is meant for; "" for no condition.
	ifMatch string
	body    any // nil for none
}

// answer is what the API says.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Problem is an answer that refuses, in the API's own words.
type Problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Detail  string `json:"detail"`
	} `json:"errors"`
	RequestID string `json:"request_id"`
}

// repeated are the headers of the visit that its calls repeat: whose they are is the same.
var repeated = []string{"X-Forwarded-For", "User-Agent"}

const headerRequestID = "X-Request-Id"

// call makes a call in the name of who is signed in, and reads the answer into to; nil for an
// answer without a body.
func (c *Console) call(v *visit, made call, to any) (*answer, *Problem) {
	request, err := v.request(made)
	if err != nil {
		return nil, c.broken(err)
	}
	return c.send(request, to)
}

// ask makes a call in the name of who calls in a context, which no visit has caused.
func (c *Console) ask(ctx context.Context, made call, to any) *Problem {
	request, err := made.request(ctx)
	if err != nil {
		return c.broken(err)
	}
	request.Host, request.RemoteAddr = "localhost", "127.0.0.1:0"
	_, problem := c.send(request, to)
	return problem
}

func (c *Console) send(request *http.Request, to any) (*answer, *Problem) {
	a := &answer{header: http.Header{}}
	c.calls.ServeHTTP(a, request)
	if a.status >= http.StatusBadRequest {
		problem := &Problem{}
		if err := json.Unmarshal(a.body.Bytes(), problem); err != nil {
			return a, c.broken(err)
		}
		problem.Status = a.status
		return a, problem
	}
	if to == nil {
		return a, nil
	}
	if err := json.Unmarshal(a.body.Bytes(), to); err != nil {
		return a, c.broken(err)
	}
	return a, nil
}

// broken is what no answer of the API is. The error is for the log.
func (c *Console) broken(err error) *Problem {
	c.Logger.Error("the console cannot make a call of the API", "error", err)
	return &Problem{Status: http.StatusInternalServerError, Title: http.StatusText(http.StatusInternalServerError)}
}

// request is a call as it is sent for a visit: from where, and by what, the visit came.
func (v *visit) request(made call) (*http.Request, error) {
	request, err := made.request(auth.With(v.r.Context(), v.who))
	if err != nil {
		return nil, err
	}
	request.Host, request.RemoteAddr, request.TLS = v.r.Host, v.r.RemoteAddr, v.r.TLS
	for _, name := range repeated {
		if values := v.r.Header.Values(name); len(values) > 0 {
			request.Header[name] = values
		}
	}
	if v.requestID != "" { // the two lines of the log belong together
		request.Header.Set(headerRequestID, v.requestID)
	}
	return request, nil
}

func (made call) request(ctx context.Context) (*http.Request, error) {
	target := made.path
	if len(made.query) > 0 {
		target += "?" + made.query.Encode()
	}
	body, err := encode(made.body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, made.method, target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if made.ifMatch != "" {
		request.Header.Set("If-Match", made.ifMatch)
	}
	return request, nil
}

func encode(body any) (string, error) {
	if body == nil {
		return "", nil
	}
	text, err := json.Marshal(body)
	return string(text), err
}

// timerPath is the path of a timer in the API, or beneath a prefix of the console.
func timerPath(prefix, businessType, id string) string {
	return prefix + "timers/" + url.PathEscape(businessType) + "/" + url.PathEscape(id)
}

const apiRoot = "/v1/"

package calls

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Call is a call of the API, as curl would make it.
type Call struct {
	Method, Path string
	Query        url.Values
	// IfMatch is the ETag of what the change is meant for; "" for no condition.
	IfMatch string
	// MustBeNew reports whether the change is meant for what does not exist.
	MustBeNew bool
	Body      any // nil for none
	// Fresh reports whether the call is made for each visit, and its answer is not kept: who looks is
	// recorded, or an answer that was given earlier is of no use.
	Fresh bool
	// MaxAge is how old an answer may be that a loaded page shows in place of a new one.
	MaxAge time.Duration
	// Brief reports whether a loaded page does not wait for the answer: its stream brings it.
	Brief bool
}

// Get is a call that asks for something.
func Get(path string) Call { return Call{Method: http.MethodGet, Path: path} }

// Post is a call that has something done.
func Post(path string, body any) Call { return Call{Method: http.MethodPost, Path: path, Body: body} }

// With is a call with a query.
func (made Call) With(query url.Values) Call {
	made.Query = query
	return made
}

// Within is a call whose answer may be so old.
func (made Call) Within(age time.Duration) Call {
	made.MaxAge = age
	return made
}

// Briefly is a call that a loaded page does not wait for.
func (made Call) Briefly() Call {
	made.Brief = true
	return made
}

// Answer is what the API says.
type Answer struct {
	Status int
	Head   http.Header
	Body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *Answer) Header() http.Header { return a.Head }

// WriteHeader implements [http.ResponseWriter].
func (a *Answer) WriteHeader(status int) {
	if a.Status == 0 {
		a.Status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *Answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Body.Write(p)
}

// Decode reads an answer that was kept as it came.
func (c Sender) Decode(raw jsontext.Value, into any) *Problem {
	if err := json.Unmarshal(raw, into); err != nil {
		return c.Broken(err)
	}
	return nil
}

// Sender makes calls of the API.
type Sender struct {
	// API is the handler of the API, and Log is for what breaks on the way.
	API http.Handler
	Log *slog.Logger
}

// InContext makes a call without a visit, in the name of the caller in ctx.
func (c Sender) InContext(ctx context.Context, made Call, to any) *Problem {
	request, err := made.Request(ctx)
	if err != nil {
		return c.Broken(err)
	}
	request.Host, request.RemoteAddr = "localhost", "127.0.0.1:0"
	_, problem := c.Send(request, to)
	return problem
}

// Send makes a call, and reads the answer into to; nil for an answer without a body.
func (c Sender) Send(request *http.Request, to any) (*Answer, *Problem) {
	a := &Answer{Head: http.Header{}}
	c.API.ServeHTTP(a, request)
	if a.Status >= http.StatusBadRequest {
		problem := &Problem{}
		if err := json.Unmarshal(a.Body.Bytes(), problem); err != nil {
			return a, c.Broken(err)
		}
		problem.Status = a.Status
		return a, problem
	}
	if to == nil {
		return a, nil
	}
	return a, c.Decode(a.Body.Bytes(), to)
}

// Broken logs an error of a call, and returns the problem that the page shows for it.
func (c Sender) Broken(err error) *Problem {
	c.Log.Error("the console cannot make a call of the API", "error", err)
	return &Problem{Type: problemPrefix + codeInternal, Status: http.StatusInternalServerError}
}

// Request is the call as the handler of the API takes it.
func (made Call) Request(ctx context.Context) (*http.Request, error) {
	target := made.Path
	if len(made.Query) > 0 {
		target += "?" + made.Query.Encode()
	}
	body, err := encode(made.Body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, made.Method, target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if made.IfMatch != "" {
		request.Header.Set("If-Match", made.IfMatch)
	}
	if made.MustBeNew {
		request.Header.Set("If-None-Match", "*")
	}
	return request, nil
}

func encode(body any) (string, error) {
	if body == nil {
		return "", nil
	}
	text, err := json.Marshal(body, jsontext.AllowInvalidUTF8(true)) // a form may hold any bytes; the API judges it
	return string(text), err
}

// Root is what every path of the API begins with.
const Root = "/v1/"

package console

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// decode reads an answer that was kept as it came.
func (c Sender) decode(raw jsontext.Value, into any) *Problem {
	if err := json.Unmarshal(raw, into); err != nil {
		return c.broken(err)
	}
	return nil
}

// statusOf is the status of a page that shows a problem, or none.
func statusOf(problem *Problem) int {
	if problem != nil {
		return problem.Status
	}
	return http.StatusOK
}

// Sender makes calls of the API.
type Sender struct {
	// API is the handler of the API, and Log is for what breaks on the way.
	API http.Handler
	Log *slog.Logger
}

// inContext makes a call in the name of who calls in a context, which no visit has caused.
func (c Sender) inContext(ctx context.Context, made call, to any) *Problem {
	request, err := made.request(ctx)
	if err != nil {
		return c.broken(err)
	}
	request.Host, request.RemoteAddr = "localhost", "127.0.0.1:0"
	_, problem := c.send(request, to)
	return problem
}

// send makes a call, and reads the answer into to; nil for an answer without a body.
func (c Sender) send(request *http.Request, to any) (*answer, *Problem) {
	a := &answer{header: http.Header{}}
	c.API.ServeHTTP(a, request)
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
func (c Sender) broken(err error) *Problem {
	c.Log.Error("the console cannot make a call of the API", "error", err)
	return &Problem{Status: http.StatusInternalServerError, Title: http.StatusText(http.StatusInternalServerError)}
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

const apiRoot = "/v1/"

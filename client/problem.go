package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/internal/retryafter"
)

// Problem is what Wakecall answers when it does not do what it was asked for
// (RFC 9457).
type Problem struct {
	problem.Document
	// RetryAfter is when it is worth another try; 0 where nothing was said.
	RetryAfter time.Duration `json:"-"`
}

func (p *Problem) Error() string {
	text := p.Detail
	if code := p.Code(); code != "" {
		text = string(code) + ": " + text
	}
	if len(p.Errors) > 0 {
		text += " " + p.Errors.Error()
	}
	return text
}

// problemIn reads a problem document. What is none is a problem without a code: a
// proxy has answered.
func problemIn(response *http.Response, answer []byte) *Problem {
	var p Problem
	if json.Unmarshal(answer, &p) != nil || p.Detail == "" {
		p = Problem{Document: problem.Document{Detail: fmt.Sprintf("Wakecall answered %d, in words that are not its own", response.StatusCode)}}
	}
	p.Status = response.StatusCode
	p.RetryAfter = retryafter.Parse(response.Header.Get("Retry-After"), time.Now(), delivery.MaxRetryAfter)
	return &p
}

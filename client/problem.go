package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/internal/retryafter"
)

// Problem is Wakecall's error answer (RFC 9457).
type Problem struct {
	problem.Document
	// RetryAfter is the wait before another try; 0 if unknown.
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

// problemIn decodes a problem document. Another body is a problem without a code: a proxy has
// answered.
func problemIn(response *http.Response, answer []byte) *Problem {
	var p Problem
	if json.Unmarshal(answer, &p) != nil || p.Detail == "" {
		p = Problem{Document: problem.Document{Detail: fmt.Sprintf("Wakecall answered %d without a problem document", response.StatusCode)}}
	}
	p.Status = response.StatusCode
	p.RetryAfter = cmp.Or(
		retryafter.Parse(response.Header.Get("Retry-After"), time.Now(), delivery.MaxRetryAfter),
		min(p.Document.RetryAfter.D(), delivery.MaxRetryAfter), // a result of a batch has no header fields
	)
	return &p
}

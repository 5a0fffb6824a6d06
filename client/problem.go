package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/retryafter"
)

// ProblemPrefix stands before the code in a problem's type.
const ProblemPrefix = "urn:wakecall:problem:"

// Problem is what Wakecall answers when it does not do what it was asked for
// (RFC 9457).
type Problem struct {
	Code        wire.Code        `json:"-"`
	Status      int              `json:"status"`
	Title       string           `json:"title"`
	Detail      string           `json:"detail"`
	RequestID   string           `json:"request_id"`
	FieldErrors wire.FieldErrors `json:"errors"`
	// Timer is the timer's true state, where that is the reason.
	Timer *timer.View `json:"timer"`
	// Dispatch is the dispatch's true state, where that is the reason.
	Dispatch *dispatch.View `json:"dispatch"`
	// ViolatedPolicies names the limits that were reached.
	ViolatedPolicies []string `json:"violated-policies"`
	// RetryAfter is when it is worth another try; 0 where nothing was said.
	RetryAfter time.Duration `json:"-"`
}

func (p *Problem) Error() string {
	text := p.Detail
	if p.Code != "" {
		text = string(p.Code) + ": " + text
	}
	if len(p.FieldErrors) > 0 {
		text += " " + p.FieldErrors.Error()
	}
	return text
}

// problemIn reads a problem document. What is none is a problem without a code: a
// proxy has answered.
func problemIn(response *http.Response, answer []byte) *Problem {
	var document struct {
		Problem
		Type string `json:"type"`
	}
	if json.Unmarshal(answer, &document) != nil || document.Detail == "" {
		document.Problem = Problem{Detail: fmt.Sprintf("Wakecall answered %d, in words that are not its own", response.StatusCode)}
	}
	problem := document.Problem
	if code, ours := strings.CutPrefix(document.Type, ProblemPrefix); ours {
		problem.Code = wire.Code(code)
	}
	problem.Status = response.StatusCode
	problem.RetryAfter = retryafter.Parse(response.Header.Get("Retry-After"), time.Now(), delivery.MaxRetryAfter)
	return &problem
}

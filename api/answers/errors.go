package answers

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

const mediaTypeProblem = "application/problem+json"

// causeKey keeps the error behind an answer.
const causeKey = "cause"

// SetCause keeps the error behind an answer for the request's log line.
func SetCause(c echo.Context, err error) { c.Set(causeKey, err) }

// CauseOf is the error behind an answer; nil for none.
func CauseOf(c echo.Context) error {
	err, _ := c.Get(causeKey).(error)
	return err
}

// ErrorHandler is the only place where an error becomes an answer. reach knows which values a
// refused field takes.
func ErrorHandler(reach delivery.Reach) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) { answerError(err, c, reach) }
}

func answerError(err error, c echo.Context, reach delivery.Reach) {
	called := calls.ScopeOf(c.Request().Context())
	if called.Reads() {
		err = wire.OfRead(err)
	}
	SetCause(c, err)
	if c.Response().Committed {
		return
	}
	problem := problems.DocumentOf(err)
	if !called.Receives {
		problem.Errors = WithExamples(problem.Errors, called, reach.Brokers)
	}
	problem.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	if ours, ok := errors.AsType[*wire.Error](err); ok && ours.Quota != nil {
		announce(c.Response().Header(), *ours.Quota, secondsOf(problem.RetryAfter))
	}
	if problem.RetryAfter > 0 {
		c.Response().Header().Set("Retry-After", secondsOf(problem.RetryAfter))
	}
	if problem.Status == http.StatusPreconditionFailed && problem.Timer != nil {
		SetETag(c, *problem.Timer)
	}
	if problem.Status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	body, err := Encoder(c)(problem)
	if err != nil {
		c.Response().WriteHeader(http.StatusInternalServerError)
		return
	}
	c.Response().Header().Del(echo.HeaderContentType) // of what would have been answered
	_ = c.Blob(problem.Status, mediaTypeProblem, body)
}

// secondsOf returns a wait as header fields have it.
func secondsOf(wait wire.Duration) string { return strconv.Itoa(int(wait.D().Seconds())) }

// announce tells a client which limit it has reached and how many seconds to wait
// (draft-ietf-httpapi-ratelimit-headers-10).
func announce(header http.Header, q wire.Quota, wait string) {
	policy := fmt.Sprintf("%q;q=%d", q.Name, q.Limit)
	if q.Window > 0 {
		policy += fmt.Sprintf(";w=%d", int(q.Window.Seconds()))
	}
	header.Set("RateLimit-Policy", policy)
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%s", q.Name, wait))
}

package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/timer"
)

// ProblemPrefix stands before the code in a problem's type.
const ProblemPrefix = "urn:wakecall:problem:"

const mediaTypeProblem = "application/problem+json"

// Problem is an RFC 9457 problem document.
type Problem struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	RequestID string       `json:"request_id,omitzero"`
	Errors    timer.Faults `json:"errors,omitempty"`
	// Timer is the timer's true state, where that is the reason.
	Timer *timer.View `json:"timer,omitempty"`
}

// problems is the one table from a code to a status and a title.
var problems = map[timer.Code]struct {
	status int
	title  string
}{
	timer.MalformedRequest:     {http.StatusBadRequest, "The body is not valid JSON"},
	timer.InvalidRequest:       {http.StatusUnprocessableEntity, "The request has invalid values"},
	timer.UnknownBusinessType:  {http.StatusUnprocessableEntity, "The business type has no policy"},
	timer.NotFound:             {http.StatusNotFound, "Not found"},
	timer.AlreadyExists:        {http.StatusConflict, "The timer exists with other content"},
	timer.AlreadyFinished:      {http.StatusConflict, "The timer is already finished"},
	timer.Overtaken:            {http.StatusConflict, "Another request came first"},
	timer.PreconditionFailed:   {http.StatusPreconditionFailed, "The policy has another version"},
	timer.Unauthorized:         {http.StatusUnauthorized, "An API key is required"},
	timer.MethodNotAllowed:     {http.StatusMethodNotAllowed, "Method not allowed"},
	timer.RequestTimeout:       {http.StatusRequestTimeout, "The request took too long to arrive"},
	timer.PayloadTooLarge:      {http.StatusRequestEntityTooLarge, "The body is too large"},
	timer.UnsupportedMediaType: {http.StatusUnsupportedMediaType, "The body must be application/json"},
	timer.Unavailable:          {http.StatusServiceUnavailable, "The timer engine did not answer"},
	timer.Internal:             {http.StatusInternalServerError, "Internal error"},
}

// retryAfter is what an unavailable engine asks for, in seconds.
const retryAfter = 1

// problemOf turns any error into a problem document. What is not ours tells a
// caller nothing.
func problemOf(err error) Problem {
	if echoed, ok := errors.AsType[*echo.HTTPError](err); ok {
		err = fromEcho(echoed)
	}
	ours, ok := errors.AsType[*timer.Error](err)
	if !ok || ours.Code == timer.Internal {
		ours = &timer.Error{Code: timer.Internal, Message: "Something went wrong. The log knows it by the request id."}
	}
	known := problems[ours.Code]
	return Problem{
		Type: ProblemPrefix + string(ours.Code), Title: known.title, Status: known.status,
		Detail: ours.Message, Errors: ours.Faults, Timer: ours.Timer,
	}
}

// fromEcho translates what the router itself refuses.
func fromEcho(err *echo.HTTPError) error {
	switch err.Code {
	case http.StatusNotFound:
		return &timer.Error{Code: timer.NotFound, Message: "There is no such resource."}
	case http.StatusMethodNotAllowed:
		return &timer.Error{Code: timer.MethodNotAllowed, Message: "The resource does not know this method."}
	default:
		return err
	}
}

// answerError is the only place where an error becomes an answer.
func answerError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	c.Set(causeKey, err)
	problem := problemOf(err)
	problem.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	switch problem.Status {
	case http.StatusServiceUnavailable:
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter))
	case http.StatusUnauthorized:
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	body, err := json.Marshal(problem)
	if err != nil {
		c.Response().WriteHeader(http.StatusInternalServerError)
		return
	}
	_ = c.Blob(problem.Status, mediaTypeProblem, body)
}

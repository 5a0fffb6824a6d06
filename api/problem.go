package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// ProblemPrefix stands before the code in a problem's type.
const ProblemPrefix = "urn:wakecall:problem:"

const mediaTypeProblem = "application/problem+json"

// Problem is an RFC 9457 problem document.
type Problem struct {
	Type      string            `json:"type"`
	Title     string            `json:"title"`
	Status    int               `json:"status"`
	Detail    string            `json:"detail"`
	RequestID string            `json:"request_id,omitzero"`
	Errors    timer.FieldErrors `json:"errors,omitempty"`
	// Timer is the timer's true state, where that is the reason.
	Timer *timer.View `json:"timer,omitempty"`
	// Dispatch is the dispatch's true state, where that is the reason.
	Dispatch *timer.DispatchView `json:"dispatch,omitempty"`
	// ViolatedPolicies names the limits that were reached, as the rate limit
	// header fields do (draft-ietf-httpapi-ratelimit-headers).
	ViolatedPolicies []string `json:"violated-policies,omitempty"`
}

// problems is the one table from a code to a status and a title.
var problems = map[timer.Code]struct {
	status int
	title  string
}{
	malformedRequest:           {http.StatusBadRequest, "The request is malformed"},
	timer.InvalidRequest:       {http.StatusUnprocessableEntity, "The request has invalid values"},
	timer.UnknownBusinessType:  {http.StatusUnprocessableEntity, "The business type has no policy"},
	timer.NotFound:             {http.StatusNotFound, "Not found"},
	timer.AlreadyExists:        {http.StatusConflict, "It exists with other content"},
	timer.AlreadyFinished:      {http.StatusConflict, "It is already finished"},
	timer.CancelPending:        {http.StatusConflict, "A cancel is pending"},
	timer.IDTaken:              {http.StatusConflict, "Another workflow has the id"},
	timer.IdempotencyKeyReused: {http.StatusUnprocessableEntity, "The idempotency key was used for another request"},
	timer.Overtaken:            {http.StatusConflict, "Another request came first"},
	timer.ChangedTooOften:      {http.StatusConflict, "It was changed too often"},
	timer.NotRecurring:         {http.StatusConflict, "The timer is not a recurring one"},
	timer.PolicyInUse:          {http.StatusConflict, "The policy has open timers"},
	timer.QuotaExceeded:        {http.StatusTooManyRequests, "A limit of the business type is reached"},
	timer.NotStreamed:          {http.StatusConflict, "The receivers of the business type do not connect"},
	timer.RingOver:             {http.StatusConflict, "The ring is over"},
	timer.NotAwaited:           {http.StatusConflict, "The delivery awaits no acknowledgement"},
	timer.WrongAckToken:        {http.StatusForbidden, "The token is not that of the delivery"},
	timer.PreconditionFailed:   {http.StatusPreconditionFailed, "The condition is not met"},
	unauthorized:               {http.StatusUnauthorized, "A known key or token is required"},
	signInUnavailable:          {http.StatusServiceUnavailable, "The identity provider did not answer"},
	forbidden:                  {http.StatusForbidden, "The call is not allowed"},
	methodNotAllowed:           {http.StatusMethodNotAllowed, "Method not allowed"},
	requestTimeout:             {http.StatusRequestTimeout, "The request took too long to arrive"},
	payloadTooLarge:            {http.StatusRequestEntityTooLarge, "The body is too large"},
	unsupportedMediaType:       {http.StatusUnsupportedMediaType, "The body has the wrong media type"},
	timer.Unavailable:          {http.StatusServiceUnavailable, "The timer engine did not answer"},
	timer.Internal:             {http.StatusInternalServerError, "Internal error"},
}

// problemOf turns any error into a problem document. Of an error that is not ours the
// caller learns nothing.
func problemOf(err error) Problem {
	if echoed, ok := errors.AsType[*echo.HTTPError](err); ok {
		err = fromEcho(echoed)
	}
	ours, ok := errors.AsType[*timer.Error](err)
	if !ok || ours.Code == timer.Internal {
		ours = &timer.Error{Code: timer.Internal, Message: "Something went wrong. The log knows it by the request id."}
	}
	known := problems[ours.Code]
	problem := Problem{
		Type: ProblemPrefix + string(ours.Code), Title: known.title, Status: known.status,
		Detail: ours.Message, Errors: ours.FieldErrors, Timer: ours.Timer, Dispatch: ours.Dispatch,
	}
	if ours.Quota != nil {
		problem.ViolatedPolicies = []string{ours.Quota.Name}
	}
	return problem
}

// fromEcho translates what the router itself refuses.
func fromEcho(err *echo.HTTPError) error {
	switch err.Code {
	case http.StatusNotFound:
		return &timer.Error{Code: timer.NotFound, Message: "There is no such resource."}
	case http.StatusMethodNotAllowed:
		return &timer.Error{Code: methodNotAllowed, Message: "The resource does not know this method."}
	default:
		return err
	}
}

// answering is the only place where an error becomes an answer. reach knows which values a
// refused field takes.
func answering(reach timer.Reach) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) { answerError(err, c, reach) }
}

func answerError(err error, c echo.Context, reach timer.Reach) {
	c.Set(causeKey, err)
	if c.Response().Committed {
		return
	}
	problem := problemOf(err)
	problem.Errors = exampled(problem.Errors, c.Path(), reach.Brokers)
	problem.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	if ours, ok := errors.AsType[*timer.Error](err); ok && ours.Quota != nil {
		announce(c.Response().Header(), *ours.Quota)
	}
	if problem.Status == http.StatusPreconditionFailed && problem.Timer != nil {
		showTag(c, *problem.Timer)
	}
	switch problem.Status {
	case http.StatusServiceUnavailable:
		c.Response().Header().Set("Retry-After", strconv.Itoa(tuning.UnavailableRetryAfter))
	case http.StatusUnauthorized:
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		allowHead(c.Response().Header())
	}
	body, err := encoder(c)(problem)
	if err != nil {
		c.Response().WriteHeader(http.StatusInternalServerError)
		return
	}
	c.Response().Header().Del(echo.HeaderContentType) // of what would have been answered
	_ = c.Blob(problem.Status, mediaTypeProblem, body)
}

// announce tells a client which limit it has reached and when it is worth
// another try (draft-ietf-httpapi-ratelimit-headers-10).
func announce(header http.Header, q timer.Quota) {
	wait := strconv.Itoa(max(1, int(math.Ceil(q.RetryAfter.Seconds()))))
	policy := fmt.Sprintf("%q;q=%d", q.Name, q.Limit)
	if q.Window > 0 {
		policy += fmt.Sprintf(";w=%d", int(q.Window.Seconds()))
	}
	header.Set("Retry-After", wait)
	header.Set("RateLimit-Policy", policy)
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%s", q.Name, wait))
}

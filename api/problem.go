package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

const mediaTypeProblem = "application/problem+json"

// problems is the one table from a code to a status and a title.
var problems = map[wire.Code]struct {
	status int
	title  string
}{
	malformedRequest:          {http.StatusBadRequest, "The request is malformed"},
	wire.InvalidRequest:       {http.StatusUnprocessableEntity, "The request has invalid values"},
	wire.UnknownBusinessType:  {http.StatusUnprocessableEntity, "The business type has no policy"},
	wire.NotFound:             {http.StatusNotFound, "Not found"},
	wire.AlreadyExists:        {http.StatusConflict, "It exists with other content"},
	wire.AlreadyFinished:      {http.StatusConflict, "It is already finished"},
	wire.CancelPending:        {http.StatusConflict, "A cancel is pending"},
	wire.IDTaken:              {http.StatusConflict, "Another workflow has the id"},
	wire.IdempotencyKeyReused: {http.StatusUnprocessableEntity, "The idempotency key was used for another request"},
	wire.Overtaken:            {http.StatusConflict, "Another request came first"},
	wire.ChangedTooOften:      {http.StatusConflict, "It was changed too often"},
	wire.NotRecurring:         {http.StatusConflict, "The timer is not a recurring one"},
	wire.PolicyInUse:          {http.StatusConflict, "The policy has open timers"},
	wire.QuotaExceeded:        {http.StatusTooManyRequests, "A limit of the business type is reached"},
	wire.NotStreamed:          {http.StatusConflict, "The receivers of the business type do not connect"},
	wire.RingOver:             {http.StatusConflict, "The ring is over"},
	wire.NotAwaited:           {http.StatusConflict, "The delivery awaits no acknowledgement"},
	wire.WrongAckToken:        {http.StatusForbidden, "The token is not that of the delivery"},
	wire.PreconditionFailed:   {http.StatusPreconditionFailed, "The condition is not met"},
	unauthorized:              {http.StatusUnauthorized, "A known key or token is required"},
	signInUnavailable:         {http.StatusServiceUnavailable, "The identity provider did not answer"},
	forbidden:                 {http.StatusForbidden, "The call is not allowed"},
	methodNotAllowed:          {http.StatusMethodNotAllowed, "Method not allowed"},
	requestTimeout:            {http.StatusRequestTimeout, "The request took too long to arrive"},
	payloadTooLarge:           {http.StatusRequestEntityTooLarge, "The body is too large"},
	unsupportedMediaType:      {http.StatusUnsupportedMediaType, "The body has the wrong media type"},
	wire.Unavailable:          {http.StatusServiceUnavailable, "The timer engine did not answer"},
	wire.Internal:             {http.StatusInternalServerError, "Internal error"},
}

// problemOf turns any error into a problem document. Of an error that is not ours the
// caller learns nothing.
func problemOf(err error) problem.Document {
	if echoed, ok := errors.AsType[*echo.HTTPError](err); ok {
		err = fromEcho(echoed)
	}
	ours, ok := errors.AsType[*wire.Error](err)
	if !ok || ours.Code == wire.Internal {
		ours = &wire.Error{Code: wire.Internal, Message: "Something went wrong. The log knows it by the request id."}
	}
	known := problems[ours.Code]
	document := problem.Document{
		Type: problem.Type(ours.Code), Title: known.title, Status: known.status,
		Detail: ours.Message, Errors: ours.FieldErrors, Timer: timer.StateOf(ours), Dispatch: dispatch.StateOf(ours),
	}
	if ours.Quota != nil {
		document.ViolatedPolicies = []string{ours.Quota.Name}
	}
	return document
}

// fromEcho translates what the router itself refuses.
func fromEcho(err *echo.HTTPError) error {
	switch err.Code {
	case http.StatusNotFound:
		return &wire.Error{Code: wire.NotFound, Message: "There is no such resource."}
	case http.StatusMethodNotAllowed:
		return &wire.Error{Code: methodNotAllowed, Message: "The resource does not know this method."}
	default:
		return err
	}
}

// answering is the only place where an error becomes an answer. reach knows which values a
// refused field takes.
func answering(reach delivery.Reach) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) { answerError(err, c, reach) }
}

func answerError(err error, c echo.Context, reach delivery.Reach) {
	c.Set(causeKey, err)
	if c.Response().Committed {
		return
	}
	problem := problemOf(err)
	if called := scopeOf(c.Request().Context()); !called.receives {
		problem.Errors = exampled(problem.Errors, called.examples, reach.Brokers)
	}
	problem.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	if ours, ok := errors.AsType[*wire.Error](err); ok && ours.Quota != nil {
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
func announce(header http.Header, q wire.Quota) {
	wait := strconv.Itoa(max(1, int(math.Ceil(q.RetryAfter.Seconds()))))
	policy := fmt.Sprintf("%q;q=%d", q.Name, q.Limit)
	if q.Window > 0 {
		policy += fmt.Sprintf(";w=%d", int(q.Window.Seconds()))
	}
	header.Set("Retry-After", wait)
	header.Set("RateLimit-Policy", policy)
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%s", q.Name, wait))
}

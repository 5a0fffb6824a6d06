package problems

import (
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// table is the one table from a code to a status and a title.
var table = map[wire.Code]struct {
	status int
	title  string
}{
	Malformed:                 {http.StatusBadRequest, "The request is malformed"},
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
	wire.HeldBack:             {http.StatusConflict, "The callbacks of the business type are held back"},
	wire.QuotaExceeded:        {http.StatusTooManyRequests, "A limit of the business type is reached"},
	wire.NotStreamed:          {http.StatusConflict, "The receivers of the business type do not connect"},
	wire.RingOver:             {http.StatusConflict, "The ring is over"},
	wire.NotAwaited:           {http.StatusConflict, "The delivery awaits no acknowledgement"},
	wire.WrongAckToken:        {http.StatusForbidden, "The token does not belong to the delivery"},
	wire.PreconditionFailed:   {http.StatusPreconditionFailed, "The condition is not met"},
	Unauthorized:              {http.StatusUnauthorized, "A known key or token is required"},
	SignInUnavailable:         {http.StatusServiceUnavailable, "The identity provider did not answer"},
	Forbidden:                 {http.StatusForbidden, "The call is not allowed"},
	MethodNotAllowed:          {http.StatusMethodNotAllowed, "Method not allowed"},
	RequestTimeout:            {http.StatusRequestTimeout, "The request took too long to arrive"},
	PayloadTooLarge:           {http.StatusRequestEntityTooLarge, "The body is too large"},
	UnsupportedMediaType:      {http.StatusUnsupportedMediaType, "The body has the wrong media type"},
	wire.Unavailable:          {http.StatusServiceUnavailable, "The timer engine did not answer"},
	wire.Internal:             {http.StatusInternalServerError, "Internal error"},
}

// DocumentOf turns any error into a problem document. An error that is not ours becomes an
// internal one, without its text.
func DocumentOf(err error) problem.Document {
	if echoed, ok := errors.AsType[*echo.HTTPError](err); ok {
		err = fromEcho(echoed)
	}
	ours, ok := errors.AsType[*wire.Error](err)
	if !ok || ours.Code == wire.Internal {
		ours = &wire.Error{Code: wire.Internal, Message: "Something went wrong. The log has the details under the request id."}
	}
	known := table[ours.Code]
	document := problem.Document{
		Type: problem.Type(ours.Code), Title: known.title, Status: known.status,
		Detail: ours.Message, Errors: ours.FieldErrors, Timer: timer.StateOf(ours), Dispatch: dispatch.StateOf(ours), Checks: health.In(ours),
	}
	switch {
	case ours.Quota != nil:
		document.ViolatedPolicies = []string{ours.Quota.Name}
		document.RetryAfter = wholeSeconds(ours.Quota.RetryAfter)
	case known.status == http.StatusServiceUnavailable:
		document.RetryAfter = wholeSeconds(tuning.UnavailableRetryAfter * time.Second)
	}
	return document
}

// wholeSeconds rounds a wait up: the header field Retry-After has seconds. One at least, or all would
// come again at once.
func wholeSeconds(wait time.Duration) wire.Duration {
	return wire.Duration(max(1, time.Duration(math.Ceil(wait.Seconds()))) * time.Second)
}

// fromEcho translates what the router itself refuses.
func fromEcho(err *echo.HTTPError) error {
	switch err.Code {
	case http.StatusNotFound:
		return &wire.Error{Code: wire.NotFound, Message: "There is no such resource."}
	case http.StatusMethodNotAllowed:
		return &wire.Error{Code: MethodNotAllowed, Message: "The resource does not support this method."}
	default:
		return err
	}
}

package api

import "github.com/wakecall/wakecall/timer"

// Why a request is refused before it is known what it asks for.
const (
	malformedRequest     timer.Code = "malformed-request"
	unauthorized         timer.Code = "unauthorized"
	signInUnavailable    timer.Code = "sign-in-unavailable"
	forbidden            timer.Code = "forbidden"
	methodNotAllowed     timer.Code = "method-not-allowed"
	requestTimeout       timer.Code = "request-timeout"
	payloadTooLarge      timer.Code = "payload-too-large"
	unsupportedMediaType timer.Code = "unsupported-media-type"
)

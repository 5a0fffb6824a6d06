package api

import "github.com/wakecall/wakecall/core/wire"

// Why a request is refused before it is known what it asks for.
const (
	malformedRequest     wire.Code = "malformed-request"
	unauthorized         wire.Code = "unauthorized"
	signInUnavailable    wire.Code = "sign-in-unavailable"
	forbidden            wire.Code = "forbidden"
	methodNotAllowed     wire.Code = "method-not-allowed"
	requestTimeout       wire.Code = "request-timeout"
	payloadTooLarge      wire.Code = "payload-too-large"
	unsupportedMediaType wire.Code = "unsupported-media-type"
)

package problems

import "github.com/wakecall/wakecall/core/wire"

// Why a request is refused before it is known what it asks for.
const (
	Malformed            wire.Code = "malformed-request"
	Unauthorized         wire.Code = "unauthorized"
	SignInUnavailable    wire.Code = "sign-in-unavailable"
	Forbidden            wire.Code = "forbidden"
	MethodNotAllowed     wire.Code = "method-not-allowed"
	RequestTimeout       wire.Code = "request-timeout"
	PayloadTooLarge      wire.Code = "payload-too-large"
	UnsupportedMediaType wire.Code = "unsupported-media-type"
)

// CodeOf is the code of what is refused with a status and for no reason of its own; "" for a status that
// needs one.
func CodeOf(status int) wire.Code {
	for _, code := range []wire.Code{
		Malformed, Unauthorized, Forbidden, wire.NotFound, wire.PreconditionFailed, PayloadTooLarge, wire.InvalidRequest,
		wire.Unavailable, wire.Internal,
	} {
		if table[code].status == status {
			return code
		}
	}
	return ""
}

// OtherOrigin refuses a call that a page of another site has made.
func OtherOrigin() error {
	return &wire.Error{Code: Forbidden, Message: "A page of another origin may not call the gateway. Call it from a program."}
}

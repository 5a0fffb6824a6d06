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

// OtherOrigin refuses a call that a page of another site has made.
func OtherOrigin() error {
	return &wire.Error{Code: Forbidden, Message: "A page of another origin may not call the gateway. Call it from a program."}
}

package requests

import (
	"fmt"
	"strings"

	"github.com/dunglas/httpsfv"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/wire"
)

// IdempotencyKey reads the key of a booking; "" without one. It is a string of
// RFC 8941, and without its quotes it is understood as well.
func IdempotencyKey(c echo.Context) (string, error) {
	values := c.Request().Header.Values(calls.HeaderIdempotencyKey)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if strings.HasPrefix(key, `"`) {
		item, err := httpsfv.UnmarshalItem(values)
		text, ok := item.Value.(string)
		if err != nil || !ok || len(item.Params.Names()) > 0 {
			return "", badIdempotencyKey()
		}
		key = text
	}
	if len(values) > 1 || !isIdempotencyKey(key) {
		return "", badIdempotencyKey()
	}
	return key, nil
}

func isIdempotencyKey(key string) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return key != "" && len(key) <= limits.MaxIdempotencyKey && !strings.ContainsFunc(key, invisible)
}

func badIdempotencyKey() error {
	return wire.FieldErrors{{
		Pointer: calls.HeaderIdempotencyKey, Code: wire.CodeInvalidHeader,
		Detail: fmt.Sprintf("must be given once, as 1 to %d visible ASCII characters, in quotes or without", limits.MaxIdempotencyKey),
	}}.Err()
}

// TraceParent is the caller's W3C trace context, if it has the length of one. It is
// parsed when it is used.
func TraceParent(c echo.Context) string {
	header := c.Request().Header.Get("traceparent")
	if len(header) != len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") {
		return ""
	}
	return header
}

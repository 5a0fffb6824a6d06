package requests

import (
	"bytes"
	"errors"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
)

// ReadObject reads a request's body, which must be one JSON object: valid
// UTF-8, no name twice, nothing behind it. Its media type is application/json or one
// of kinds.
func ReadObject(c echo.Context, kinds ...string) (decode.Object, error) {
	body, err := ReadBody(c, limits.MaxBody, kinds)
	if err != nil {
		return nil, err
	}
	members, err := decode.Parse(body)
	audits.EntryOf(c).SetBody(members)
	return members, err
}

// ReadBody reads a body of at most limit bytes. Its media type is application/json or one of
// kinds.
func ReadBody(c echo.Context, limit int64, kinds []string) (jsontext.Value, error) {
	r := c.Request()
	if err := checkMediaType(r, kinds); err != nil {
		return nil, err
	}
	tooLarge := &wire.Error{Code: problems.PayloadTooLarge, Message: "The body is larger than this call allows."}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	// Room is made at once for a length that was said: growing costs five times as much.
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(http.MaxBytesReader(c.Response(), r.Body, limit))
	if err == nil {
		return body.Bytes(), nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil, &wire.Error{Code: problems.RequestTimeout, Message: "The body did not arrive in time."}
	}
	return nil, &wire.Error{Code: problems.Malformed, Message: "The body broke off.", Cause: err}
}

// checkMediaType admits application/json and kinds, in UTF-8 and without an encoding:
// the limit counts the bytes that were sent, and a compressed body becomes larger.
func checkMediaType(r *http.Request, kinds []string) error {
	return RequireMediaType(r, append([]string{echo.MIMEApplicationJSON}, kinds...)...)
}

// RequireMediaType admits these kinds only.
func RequireMediaType(r *http.Request, kinds ...string) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	charset := params["charset"]
	if err != nil || !slices.Contains(kinds, kind) || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
		return &wire.Error{Code: problems.UnsupportedMediaType, Message: "Send Content-Type: " + strings.Join(kinds, " or ") + "."}
	}
	if r.Header.Get(echo.HeaderContentEncoding) != "" {
		return &wire.Error{Code: problems.UnsupportedMediaType, Message: "Send the body without Content-Encoding."}
	}
	return nil
}

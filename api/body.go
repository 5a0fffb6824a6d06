package api

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

	"github.com/wakecall/wakecall/core/wire"
)

// readObject reads a request's body, which must be one JSON object: valid
// UTF-8, no name twice, nothing behind it. Its media type is application/json or one
// of kinds.
func readObject(c echo.Context, kinds ...string) (object, error) {
	body, err := readBody(c, maxBody, kinds)
	if err != nil {
		return nil, err
	}
	members, err := parseObject(body)
	noted(c).ordered(members)
	return members, err
}

func readBody(c echo.Context, limit int64, kinds []string) (jsontext.Value, error) {
	r := c.Request()
	if err := checkMediaType(r, kinds); err != nil {
		return nil, err
	}
	tooLarge := &wire.Error{Code: payloadTooLarge, Message: "The body is larger than this call allows."}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	// A length that is said is room that is taken at once: growing costs five times as much.
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(http.MaxBytesReader(c.Response(), r.Body, limit))
	if err == nil {
		return body.Bytes(), nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil, &wire.Error{Code: requestTimeout, Message: "The body did not arrive in time."}
	}
	return nil, &wire.Error{Code: malformedRequest, Message: "The body broke off.", Cause: err}
}

// checkMediaType admits application/json and kinds, in UTF-8 and without an encoding:
// the limit counts the bytes that were sent, and a compressed body becomes larger.
func checkMediaType(r *http.Request, kinds []string) error {
	return checkKind(r, append([]string{echo.MIMEApplicationJSON}, kinds...)...)
}

// checkKind admits these kinds only.
func checkKind(r *http.Request, kinds ...string) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	charset := params["charset"]
	if err != nil || !slices.Contains(kinds, kind) || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
		return &wire.Error{Code: unsupportedMediaType, Message: "Send Content-Type: " + strings.Join(kinds, " or ") + "."}
	}
	if r.Header.Get(echo.HeaderContentEncoding) != "" {
		return &wire.Error{Code: unsupportedMediaType, Message: "Send the body without Content-Encoding."}
	}
	return nil
}

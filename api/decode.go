package api

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/timer"
)

// object is a JSON object whose members are not looked at yet.
type object map[string]jsontext.Value

// readObject reads a request's body, which must be one JSON object: valid
// UTF-8, no name twice, nothing behind it. Its media type is application/json or one
// of kinds.
func readObject(c echo.Context, kinds ...string) (object, error) {
	body, err := readBody(c, maxBody, kinds)
	if err != nil {
		return nil, err
	}
	return parseObject(body)
}

func parseObject(body jsontext.Value) (object, error) {
	if isDeep(body, timer.MaxNesting) {
		return nil, nested(body)
	}
	return parseMembers(body)
}

// parseMembers is parseObject where what is nested too deep is refused later.
func parseMembers(body jsontext.Value) (members object, err error) {
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, malformed(err)
	}
	return members, nil
}

// isDeep is whether arrays and objects are nested deeper than limit. It stops as soon as
// that is known: what else is wrong with a text shows when it is parsed.
func isDeep(text []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// nested refuses a body that is nested too deep, and names the member that is.
func nested(body jsontext.Value) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	for decoder.StackDepth() <= timer.MaxNesting {
		if _, err := decoder.ReadToken(); err != nil {
			return malformed(err)
		}
	}
	member, _, _ := strings.Cut(strings.TrimPrefix(string(decoder.StackPointer()), "/"), "/")
	return &timer.Error{Code: malformedRequest, Message: fmt.Sprintf(
		"The body is nested more than %d deep at %s.", timer.MaxNesting, timer.ShortPointer("/"+member))}
}

func readBody(c echo.Context, limit int64, kinds []string) (jsontext.Value, error) {
	r := c.Request()
	if err := checkMediaType(r, kinds); err != nil {
		return nil, err
	}
	tooLarge := &timer.Error{Code: payloadTooLarge, Message: "The body is larger than this call allows."}
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
		return nil, &timer.Error{Code: requestTimeout, Message: "The body did not arrive in time."}
	}
	return nil, malformed(err)
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
		return &timer.Error{Code: unsupportedMediaType, Message: "Send Content-Type: " + strings.Join(kinds, " or ") + "."}
	}
	if r.Header.Get(echo.HeaderContentEncoding) != "" {
		return &timer.Error{Code: unsupportedMediaType, Message: "Send the body without Content-Encoding."}
	}
	return nil
}

// malformed says where a body stops being JSON.
func malformed(err error) error {
	message := "The body must be one JSON object."
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		message = "The body is not valid JSON"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			message = "The body has a name twice"
		}
		if syntax.JSONPointer != "" {
			message += " at " + timer.ShortPointer(string(syntax.JSONPointer))
		}
		message += "."
	}
	return &timer.Error{Code: malformedRequest, Message: message, Cause: err}
}

package answers

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/auth"
)

// headerPayloads says that an answer was to have payloads, or bodies of answers, which the
// caller has no right to see.
const headerPayloads = "Wakecall-Payloads"

const payloadsLeftOut = "left-out"

// Encoder writes values in JSON, as the caller may see them.
func Encoder(c echo.Context) func(value any) ([]byte, error) {
	leaveOut := leavingOut(c)
	if leaveOut == nil {
		return json.Marshal
	}
	return encodingWithout(c, leaveOut)
}

func encodingWithout(c echo.Context, leaveOut *jsonv2.Marshalers) func(value any) ([]byte, error) {
	c.Response().Header().Set(headerPayloads, payloadsLeftOut)
	return func(value any) ([]byte, error) {
		return jsonv2.Marshal(value, jsonv1.DefaultOptionsV1(), jsonv2.WithMarshalers(leaveOut))
	}
}

// Serializer writes answers as their callers may see them.
type Serializer struct{ echo.DefaultJSONSerializer }

// Serialize implements [echo.JSONSerializer].
func (s Serializer) Serialize(c echo.Context, value any, _ string) error {
	leaveOut := leavingOut(c)
	if leaveOut == nil { // as most are, with nothing to pay for it
		return s.DefaultJSONSerializer.Serialize(c, value, "")
	}
	text, err := encodingWithout(c, leaveOut)(value)
	if err != nil {
		return err
	}
	_, err = c.Response().Write(append(text, '\n'))
	return err
}

// leavingOut leaves payloads out of the answer to a call; nil where the caller may see all of
// them.
func leavingOut(c echo.Context) *jsonv2.Marshalers {
	ctx := c.Request().Context()
	who, p := calls.ScopeOf(ctx), auth.From(ctx)
	switch {
	case who.Payloads != calls.Payloads:
		return nil
	case who.Type == calls.InPath:
		if p.SeesPayloads(paths.Param(c, paths.Type)) {
			return nil
		}
	case p.By == auth.ByAckToken || p.SeesAllPayloads():
		return nil
	}
	return jsonv2.JoinMarshalers(
		jsonv2.MarshalToFunc(func(to *jsontext.Encoder, view timer.View) error {
			if p.SeesPayloads(view.BusinessType) {
				return jsonv2.MarshalEncode(to, view, jsonv2.WithMarshalers(nil))
			}
			view.PayloadSHA256 = ""
			return jsonv2.MarshalEncode(to, view, jsonv2.WithMarshalers(withoutPayloads))
		}), withoutPayloads,
	)
}

// withoutPayloads leave out what a receiver was sent, and what it answered.
var withoutPayloads = jsonv2.JoinMarshalers(
	jsonv2.MarshalFunc(func(attempt delivery.ShownAttempt) ([]byte, error) {
		left := []string{"body_sha256"}
		if attempt.Answer != "" {
			left = append(left, "answer")
		}
		attempt.Answer = ""
		return json.Marshal(ShownAttempt{ShownAttempt: attempt, LeftOut: left})
	}),
	jsonv2.MarshalFunc(func(failure dispatch.Failure) ([]byte, error) {
		var left []string
		if failure.Payload != nil {
			left = append(left, "payload")
		}
		failure.Payload = nil
		if failure.Failure != nil {
			failure.Failure = new(failure.Failure.WithoutReason())
		}
		return json.Marshal(ShownItem{failure, left})
	}),
	jsonv2.MarshalFunc(func(result delivery.TestResult) ([]byte, error) {
		var left []string
		if result.Answer != "" {
			left = append(left, "answer")
		}
		result.Answer = ""
		return json.Marshal(shownTest{result, left})
	}),
	jsonv2.MarshalFunc(func(failure delivery.Failure) ([]byte, error) { return json.Marshal(failure.WithoutReason()) }),
)

// ShownAttempt is an attempt without what was sent and answered.
type ShownAttempt struct {
	delivery.ShownAttempt
	BodySHA256 string   `json:"body_sha256,omitempty"`
	LeftOut    []string `json:"left_out"`
}

// ShownItem is an item that was given up, without its payload.
type ShownItem struct {
	dispatch.Failure
	LeftOut []string `json:"left_out,omitempty"`
}

// shownTest is the result of a test event, without the text of the answer.
type shownTest struct {
	delivery.TestResult
	LeftOut []string `json:"left_out,omitempty"`
}

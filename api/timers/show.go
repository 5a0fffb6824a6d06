package timers

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/auth"
)

func (h handlers) getTimer(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, calls.ParamPayload)
	asked := q.Flag(calls.ParamPayload)
	if err := q.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	view, err := h.Timers.Get(ctx, key)
	if err != nil {
		return err
	}
	answers.SetETag(c, view)
	audits.EntryOf(c).SetUnchanged()
	if !asked {
		return c.JSON(http.StatusOK, view)
	}
	if !auth.From(ctx).SeesPayloads(key.BusinessType) { // the answer says that it is left out
		audits.EntryOf(c).SetWithheld()
		return c.JSON(http.StatusOK, view)
	}
	text, err := answers.Encoder(c)(view)
	if err == nil {
		text, err = withPayload(text, view.Payload)
	}
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, append(text, '\n'))
}

// withPayload adds a payload to the JSON object of a timer, byte for byte: an encoder would
// write JSON anew.
func withPayload(object []byte, p timer.Payload) ([]byte, error) {
	if len(p.Data) == 0 {
		return object, nil
	}
	kind, err := json.Marshal(p.ContentType)
	if err != nil {
		return nil, err
	}
	member := slices.Concat([]byte(`,"content_type":`), kind, []byte(`,"payload":`), p.Data)
	if p.ContentType != timer.ContentTypeJSON || !jsontext.Value(p.Data).IsValid() {
		text := base64.StdEncoding.EncodeToString(p.Data)
		member = slices.Concat([]byte(`,"content_type":`), kind, []byte(`,"payload_base64":"`), []byte(text), []byte(`"`))
	}
	return slices.Concat(object[:len(object)-1], member, []byte("}")), nil
}

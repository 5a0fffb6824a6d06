package dispatches

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// upload takes the items of a dispatch that was opened for them, and starts it when all
// of them are there and in order.
func (h handlers) upload(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, "from")
	from := q.Position("from")
	if err := q.Err(); err != nil {
		return err
	}
	if err := requests.RequireMediaType(c.Request(), unbounded.MediaTypeNDJSON); err != nil {
		return err
	}
	view, err := h.Dispatches.UploadAll(c.Request().Context(), key, from,
		itemsOf(unbounded.NewLines(unbounded.NewReader(c), limits.MaxItemLine)))
	if unwritable := unbounded.NewWriter(c).ExtendDeadline(); unwritable != nil {
		return unwritable
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

// itemsOf are the items of an upload. Behind a line that is none, the rest is read only to
// say what else is wrong, up to [wire.MaxFieldErrors] times; the sequence ends with that.
func itemsOf(in *unbounded.Lines) iter.Seq2[dispatch.Item, error] {
	return func(yield func(dispatch.Item, error) bool) {
		var errs wire.FieldErrors
		for len(errs) < wire.MaxFieldErrors {
			line, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && !errors.Is(err, unbounded.ErrLongLine) {
				yield(dispatch.Item{}, brokenOff(in.Number, err))
				return
			}
			item, wrong := itemOf(line, err)
			errs.Under("/"+strconv.Itoa(in.Number), wrong)
			if len(errs) == 0 && !yield(item, nil) {
				return
			}
		}
		if refusal, ok := errors.AsType[*wire.Error](errs.Err()); ok {
			refusal.Message = "Some lines are not valid items. Nothing was started. Each pointer begins with the number of its line."
			yield(dispatch.Item{}, refusal)
		}
	}
}

func itemOf(line jsontext.Value, long error) (item dispatch.Item, errs wire.FieldErrors) {
	if long != nil {
		errs.AddMost("/payload", dispatch.MaxItem, "bytes")
		return item, errs
	}
	if item, errs = readItem(line); len(errs) == 0 {
		errs = item.Check()
	}
	return item, errs
}

// brokenOff is the error of an upload that ends before its end.
func brokenOff(number int, err error) error {
	what := fmt.Sprintf("The upload broke off after line %d", number)
	const then = "Nothing was started. Send all items again, or only the items that are not stored yet."
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return &wire.Error{Code: problems.RequestTimeout, Message: what + ": no more data arrived. " + then, Cause: err}
	}
	return &wire.Error{Code: problems.Malformed, Message: what + ". " + then, Cause: err}
}

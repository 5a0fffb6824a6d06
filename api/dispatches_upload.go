package api

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

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

const mediaTypeNDJSON = "application/x-ndjson"

// upload takes the items of a dispatch that was opened for them, and starts it when all
// of them are there and in order.
func (h dispatchHandlers) upload(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	q := readQuery(c, "from")
	from := q.position("from")
	if err := q.err(); err != nil {
		return err
	}
	if err := checkKind(c.Request(), mediaTypeNDJSON); err != nil {
		return err
	}
	view, err := h.Dispatches.UploadAll(c.Request().Context(), key, from, itemsOf(newLines(receiverOf(c), maxItemLine)))
	if unwritable := senderOf(c).allow(); unwritable != nil {
		return unwritable
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

// position is a parameter that counts from 0.
func (q *query) position(name string) int {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		q.errs.Add(name, wire.CodeInvalidParameter, "must be a number from 0")
	}
	return n
}

// itemsOf are the items of an upload. Behind a line that is none, the rest is read only to
// say what else is wrong, up to [wire.MaxFieldErrors] times; the sequence ends with that.
func itemsOf(in *lines) iter.Seq2[dispatch.Item, error] {
	return func(yield func(dispatch.Item, error) bool) {
		var errs wire.FieldErrors
		for len(errs) < wire.MaxFieldErrors {
			line, err := in.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && !errors.Is(err, errLongLine) {
				yield(dispatch.Item{}, brokenOff(in.number, err))
				return
			}
			item, wrong := itemOf(line, err)
			errs.Under("/"+strconv.Itoa(in.number), wrong)
			if len(errs) == 0 && !yield(item, nil) {
				return
			}
		}
		if refusal, ok := errors.AsType[*wire.Error](errs.Err()); ok {
			refusal.Message = "Some lines are no items. Nothing was started. The pointers begin with the number of the line."
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
	what := fmt.Sprintf("The upload broke off behind line %d", number)
	const then = "Nothing was started. Send the items again, or those that are not stored yet."
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return &wire.Error{Code: requestTimeout, Message: what + ": nothing came any more. " + then, Cause: err}
	}
	return &wire.Error{Code: malformedRequest, Message: what + ". " + then, Cause: err}
}

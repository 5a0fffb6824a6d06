package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// answer is the answer of a loader.
type answer struct {
	Items      []dispatch.Item `json:"items"`
	NextCursor *string         `json:"next_cursor"`
}

// askLoader asks the loader for the page at a cursor, signed like a callback. An answer of
// another form is [wire.InvalidRequest]: asking again is useless.
func (s *source) askLoader(ctx context.Context, c *settings, cursor string) (batch, error) {
	loader := c.memo.Order.Loader
	headers := map[string]string{
		send.HeaderBusinessType: s.shard.BusinessType, send.HeaderDispatch: s.shard.BusinessID, send.HeaderShard: strconv.Itoa(s.shard.Number),
	}
	outcome := s.Sender.Send(ctx, send.Message{
		ID:          s.shard.QuestionID(s.shard.Number, cursor),
		Destination: delivery.HTTP(loader.Question(s.shard.Number, cursor)), Headers: headers, Secrets: c.policy.Secrets(time.Now()),
		Timeout: loader.Timeout.D(), TLS: c.policy.TLS.Trust(), Ask: true, Answer: dispatch.MaxLoaderAnswer,
	})
	switch verdict := delivery.Judge(outcome.Answer); {
	case outcome.NoVerdict:
		return batch{}, errUnasked
	case verdict.Decision == delivery.DecisionDelivered:
		return parse(outcome.Body, loader.PageSize)
	case verdict.Decision == delivery.DecisionStop:
		return batch{}, invalid("The loader cannot be called: " + outcome.Describe())
	default:
		return batch{}, &wire.Error{Code: wire.Unavailable, Message: "The loader did not answer: " + outcome.Describe()}
	}
}

// errUnasked is the error of a loader that was not asked for lack of local resources. It
// uses up no try.
var errUnasked = errors.New("the loader was not called")

// parse reads the answer of a loader.
func parse(body []byte, most int) (batch, error) {
	if len(body) > dispatch.MaxLoaderAnswer {
		return batch{}, invalid(fmt.Sprintf("The loader's answer has more than %d bytes.", dispatch.MaxLoaderAnswer))
	}
	var read answer
	if err := json.Unmarshal(body, &read); err != nil {
		return batch{}, invalid("The loader's answer is not of the form {\"items\":[…],\"next_cursor\":\"…\"}" + position(err) + ".")
	}
	if read.Items == nil {
		return batch{}, invalid("The loader's answer has no items.")
	}
	if len(read.Items) > most {
		return batch{}, invalid(fmt.Sprintf("The loader answered %d items; the page size is %d.", len(read.Items), most))
	}
	for i := range read.Items {
		read.Items[i].Attempts, read.Items[i].Failure = 0, nil
		if errs := read.Items[i].Check(); len(errs) > 0 {
			return batch{}, invalid(fmt.Sprintf("The loader's item %d is refused: %s", i, errs.Error()))
		}
	}
	if read.NextCursor == nil || *read.NextCursor == "" {
		return batch{items: read.Items, end: true}, nil
	}
	if len(*read.NextCursor) > dispatch.MaxCursor {
		return batch{}, invalid(fmt.Sprintf("The loader's next_cursor has more than %d bytes.", dispatch.MaxCursor))
	}
	return batch{items: read.Items, next: *read.NextCursor}, nil
}

func invalid(message string) error { return &wire.Error{Code: wire.InvalidRequest, Message: message} }

// position is where an answer departs from the requested form. The decoder's own text names
// our types.
func position(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(": it is wrong at byte %d", syntax.Offset)
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf(": it is wrong at byte %d", kind.Offset)
	}
	return ""
}

// shownText is the text of an error in a problem's message: our own text, or that of a fault.
func shownText(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return string(delivery.PageUnread)
}

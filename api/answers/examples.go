package answers

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/core/fields"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/policies"
)

// parameterExamples has a value that is taken for each parameter of a query and each header.
// Fields of bodies have theirs beside their rules.
var parameterExamples = map[string]string{
	"business_type": "order-close", "business_id": "order-4711", "label": "customer=42", "sort": string(timer.DueFirst),
	"run_id": "0199b2c4-1d2e-7f30-8a41-5b6c7d8e9f01", "webhook_id": "msg_2t5rq4nzk3xw7yh6jd7mbcvp5e",
	"recurring": "true", "attempts": "false", "payload": "true", "paused": "true", "back_pressure": "true", "dry_run": "true",
	"keep_from": "3", "page_size": "20", "count": "20", "step": "5m", "wait": "2s", "timers": string(policies.OpenTimersKeep),
	calls.HeaderIdempotencyKey: `"order-4711"`, timer.HeaderIfMatch: "*", calls.HeaderIfNoneMatch: "*",
}

// timeParameters are the parameters that are moments.
var timeParameters = []string{"due_from", "due_to", "ended_from", "ended_to", "from", "to"}

// WithExamples returns field errors of a call, each with a value that its field takes. A field that is in
// conflict has none. brokers are the configured names; no other name is taken.
func WithExamples(errs wire.FieldErrors, called calls.Scope, brokers []string) wire.FieldErrors {
	if len(errs) == 0 {
		return errs
	}
	shown, now := slices.Clone(errs), time.Now()
	for i, fieldErr := range shown {
		switch {
		case fieldErr.Code == wire.CodeUnknownField || fieldErr.Pointer == "":
		case fieldErr.Code == wire.CodeConflict: // with another field, or with what is stored: any example may conflict too
		case !strings.HasPrefix(fieldErr.Pointer, "/"):
			shown[i].Example = parameterExample(called, fieldErr.Pointer, now)
		case strings.HasSuffix(fieldErr.Pointer, "/broker"):
			if len(brokers) > 0 {
				shown[i].Example = quoted(brokers[0])
			}
		default:
			shown[i].Example = fields.Example(fieldErr.Pointer, now)
		}
	}
	return shown
}

// parameterExample is a value that a parameter of a query, or a header, takes.
func parameterExample(called calls.Scope, name string, now time.Time) wire.Example {
	text, ok := called.Examples[name]
	ahead, moment := called.Moments[name]
	switch {
	case ok:
	case moment:
		text = wire.At(now.Add(ahead).Truncate(time.Minute)).String()
	case slices.Contains(timeParameters, name):
		return fields.Example("/due_from", now)
	default:
		text = parameterExamples[name]
	}
	if text == "" {
		return ""
	}
	return quoted(text)
}

func quoted(text string) wire.Example { return wire.Example(strconv.Quote(text)) }

package fields

import (
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// exampleYear is the year of the examples. Answers use the next year instead, because Wakecall
// refuses times in the past.
const exampleYear = "2027"
const (
	exampleTime     = `"` + exampleYear + `-01-31T09:00:00Z"`
	exampleCallback = `{"url":` + exampleURL + `}`
	exampleURL      = `"https://orders.example.com/close"`
	exampleSteps    = `["10s","1m","10m"]`
)

// examples has a valid value for each field of a body, by its name. Where fields of one name
// differ, the key includes the enclosing objects. A star stands for the elements of a list, and
// for the free names of an object.
var examples = map[string]wire.Example{
	"business_type": `"order-close"`, "business_id": `"order-4711"`,
	"due_at": exampleTime, "due_local": `"` + exampleYear + `-01-31T09:00"`, "timezone": `"Europe/Berlin"`, "delay": `"30m"`,
	"max_wait":  `"5m"`,
	"latest_at": `"` + exampleYear + `-02-28T09:00:00Z"`, "expires_after": `"2h"`, "paused": `true`, "priority": `3`,
	"payload": `{"order":4711}`, "payload_base64": `"AAEC"`, "content_type": `"application/octet-stream"`,
	"labels": `{"customer":"42"}`, "labels/*": `"42"`,

	"callback": exampleCallback, "on_delivered": exampleCallback, "on_failed": exampleCallback, "alert": exampleCallback,
	"url": exampleURL, "exchange": `"timers"`, "routing_key": `"order-close"`, "timeout": `"5s"`, "stream": `false`,
	"headers": `{"X-Tenant":"shop"}`, "headers/*": `"shop"`,

	"retry": `{"steps":` + exampleSteps + `}`, "steps": exampleSteps, "steps/*": `"1m"`,
	"initial": `"10s"`, "multiplier": `2`, "max_interval": `"1h"`, "max_attempts": `5`, "jitter": `0.2`,

	"recurrence": `{"every":"15m"}`, "cron": `"30 9 * * MON-FRI"`, "crons": `["0 9 * * *","0 18 * * *"]`, "crons/*": `"0 9 * * *"`,
	"seconds": `false`, "dialect": `"quartz"`, "every": `"15m"`, "offset": `"2m"`, "after": `"10m"`,
	"at": `[` + exampleTime + `]`, "at/*": exampleTime, "before": `["24h","0s"]`, "before/*": `"24h"`,
	"initial_delay": `"1m"`, "start_at": exampleTime, "end_at": `"` + exampleYear + `-12-31T09:00:00Z"`, "max_occurrences": `10`,
	"recurrence/jitter": `"30s"`, "exclude": `["` + exampleYear + `-12-25"]`, "exclude/*": `"` + exampleYear + `-12-25"`,
	"missed": `"fire_once"`, "on_failure": `"pause"`,

	"limits": `{"callbacks_per_second":50}`, "adds_per_second": `50`, "adds_burst": `100`, "callbacks_per_second": `50`,
	"in_flight": `100`, "pending": `10000`,
	"secret_overlap": `"24h"`, "discard_answers": `true`, "min_interval": `"1m"`, "on_time": `"500ms"`, "preload": `"2s"`,
	"reuse": `"after_end"`, "max_back_pressure": `"10m"`,
	"fallback": `{"url":"https://backup.example.com/close"}`, "fallback/url": `"https://backup.example.com/close"`, "fallback/after": `"1m"`,
	"ack": `{"within":"10m"}`, "within": `"10m"`,
	"declare": `{"queue":"orders"}`, "exchange_type": `"topic"`, "queue": `"orders"`, "queue_type": `"quorum"`,

	"per_second": `50`, "warm_up": `"10s"`, "callback_per": `"item"`, "page_size": `100`, "upload": `true`,
	"items": `[{"id":"user-1","payload":{"name":"Ada"}}]`, "items/*": `{"id":"user-1","payload":{"name":"Ada"}}`, "id": `"user-1"`,
	"loader": `{"url":"https://orders.example.com/items"}`, "loader/url": `"https://orders.example.com/items"`, "shards": `4`,

	"recurring": `true`,
	"operation": `"cancel"`, "filter": `{"business_type":"order-close"}`, "status": `"failed"`, "shift": `"2h"`,
	"edit": `{"priority":2}`, "dry_run": `true`, "counted": `"sale-extended-dry"`,
	"due_from": exampleTime, "due_to": exampleTime, "ended_from": exampleTime, "ended_to": exampleTime,

	"timers":     `[{"business_type":"order-close","business_id":"order-4711","delay":"30m"}]`,
	"everything": `true`, "business_types": `["order-close"]`, "business_types/*": `"order-close"`, "note": `"the warehouse is closed"`,
	"reason": `"out of paper"`, "retry_after": `"5m"`, "stop": `true`, "from": exampleTime, "count": `20`,
}

// freeNames are the objects with names of the client's choice. Each function reports whether a
// name is bad regardless of its value.
var freeNames = map[string]func(name string) (bad bool){
	"headers": func(name string) bool { return delivery.CheckHeader(name, "") != "" },
	"labels":  func(name string) bool { return !timer.IsLabelKey(name) },
}

// Example returns a valid value for the field at a pointer. It returns "" for an unknown field,
// and for one whose value must not be copied, such as a secret.
func Example(pointer string, now time.Time) wire.Example {
	names := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, name := range names {
		bad := freeNames[names[max(i-1, 0)]]
		if _, err := strconv.Atoi(name); err == nil || i > 0 && bad != nil {
			names[i] = "*"
		}
		if i > 0 && bad != nil && bad(name) {
			return ""
		}
	}
	if last := len(names) - 1; last > 0 && names[last] == "*" { // no other field has this name
		names = names[last-1:]
	}
	for ; len(names) > 0; names = names[1:] {
		if example, ok := examples[strings.Join(names, "/")]; ok {
			return wire.Example(strings.ReplaceAll(string(example), exampleYear, strconv.Itoa(now.Year()+1)))
		}
	}
	return ""
}

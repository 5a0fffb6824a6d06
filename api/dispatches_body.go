package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// dispatchBody is a dispatch as a client writes it.
type dispatchBody struct {
	BusinessType *string            `json:"business_type"`
	BusinessID   *string            `json:"business_id"`
	PerSecond    *float64           `json:"per_second"`
	DueAt        *wire.Instant      `json:"due_at"`
	Delay        *wire.Duration     `json:"delay"`
	Recurrence   *recurrence.Rule   `json:"recurrence"`
	LatestAt     *wire.Instant      `json:"latest_at"`
	WarmUp       *wire.Duration     `json:"warm_up"`
	Per          *dispatch.Per      `json:"callback_per"`
	PageSize     *int               `json:"page_size"`
	Callback     *delivery.Callback `json:"callback"`
	Retry        *delivery.Retry    `json:"retry"`

	Items  *[]jsontext.Value `json:"items"`
	Upload *bool             `json:"upload"`
	Loader *dispatch.Loader  `json:"loader"`
}

// dispatchOrder is a dispatch with its inline items, or one that waits for an upload.
type dispatchOrder struct {
	dispatch.Dispatch
	items  []dispatch.Item
	upload bool
}

// readOrder reads an order. What cannot be read does not keep the rest from being checked.
func readOrder(o object, reach delivery.Reach) (order dispatchOrder, err error) {
	var body dispatchBody
	errs := append(o.fill(&body), o.zeros(dispatchZeros)...)
	order = dispatchOrder{Dispatch: body.order(), upload: value(body.Upload)}
	errs.Complete(body.missing())
	for i, text := range value(body.Items) {
		item, wrong := readItem(text)
		errs.Under("/items/"+strconv.Itoa(i), wrong)
		if errs.Full() { // no answer names more
			return order, errs.Err()
		}
		order.items = append(order.items, item)
	}
	if body.Items != nil {
		errs.Complete(dispatch.CheckItems(order.items))
	}
	if len(errs) > 0 {
		errs.Complete(order.Check(time.Now()))
		errs.Complete(reach.Callback(order.Callback))
	}
	return order, errs.Err()
}

func (b dispatchBody) order() dispatch.Dispatch {
	order := dispatch.Dispatch{
		Key:       wire.Key{BusinessType: value(b.BusinessType), BusinessID: value(b.BusinessID)},
		PerSecond: value(b.PerSecond), DueAt: b.DueAt, Delay: b.Delay, Recurrence: b.Recurrence, LatestAt: b.LatestAt,
		WarmUp: value(b.WarmUp), Per: value(b.Per), PageSize: value(b.PageSize),
		Callback: b.Callback, Retry: b.Retry, Loader: b.Loader,
	}
	if order.Callback != nil {
		order.Callback.URL = asciiHost(order.Callback.URL)
	}
	if order.Loader != nil {
		order.Loader.URL = asciiHost(order.Loader.URL)
	}
	return order
}

// missing is what is wrong with what the order leaves out.
func (b dispatchBody) missing() (errs wire.FieldErrors) {
	ways := 0
	for _, given := range []bool{b.Items != nil, value(b.Upload), b.Loader != nil} {
		if given {
			ways++
		}
	}
	switch ways {
	case 0:
		errs.Add("/items", wire.CodeRequired, `give items, "upload": true or a loader`)
	case 1:
	default:
		errs.Add("/items", wire.CodeConflict, `give one of items, "upload": true and a loader`)
	}
	if b.PerSecond == nil {
		errs.Add("/per_second", wire.CodeRequired, "is required")
	}
	return errs
}

// itemBody is an item as a client writes it.
type itemBody struct {
	ID      *string        `json:"id"`
	Payload jsontext.Value `json:"payload"`
}

func (b itemBody) item() dispatch.Item {
	return dispatch.Item{ID: value(b.ID), Payload: []byte(b.Payload)}
}

// readItem reads an item, which is a copy of what it needs of the text. There may be
// millions, so one that can be read is read at once, and only of another one it is found
// out why it cannot.
func readItem(text jsontext.Value) (item dispatch.Item, errs wire.FieldErrors) {
	if len(text) > maxItemLine {
		errs.AddMost("/payload", dispatch.MaxItem, "bytes")
		return item, errs
	}
	if isDeep(text, wire.MaxNesting) {
		errs.Add("", wire.CodeInvalidJSON, fmt.Sprintf("must not be nested more than %d deep", wire.MaxNesting))
		return item, errs
	}
	var body itemBody
	if json.Unmarshal(text, &body, json.RejectUnknownMembers(true)) == nil && body.ID != nil {
		return body.item(), nil
	}
	members, err := parseObject(text)
	if err != nil {
		errs.Add("", wire.CodeInvalidJSON, "must be a JSON object with each name once. "+problemOf(err).Detail)
		return item, errs
	}
	body = itemBody{}
	errs = members.fill(&body)
	if body.ID == nil {
		errs.Complete(wire.FieldErrors{{Pointer: "/id", Code: wire.CodeRequired, Detail: "is required"}})
	}
	return body.item(), errs
}

package dispatches

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// dispatchZeros are the fields of a dispatch that refuse a zero.
var dispatchZeros = decode.RefusingZero(dispatch.Fields())

// Body is a dispatch as a client writes it.
type Body struct {
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

// ReadOrder reads an order. What cannot be read does not keep the rest from being checked.
func ReadOrder(o decode.Object, reach delivery.Reach) (order dispatchOrder, err error) {
	var body Body
	errs := append(o.Fill(&body), o.Zeros(dispatchZeros)...)
	order = dispatchOrder{Dispatch: body.order(), upload: decode.Value(body.Upload)}
	errs.Complete(body.missing())
	for i, text := range decode.Value(body.Items) {
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

func (b Body) order() dispatch.Dispatch {
	order := dispatch.Dispatch{
		Key:       wire.Key{BusinessType: decode.Value(b.BusinessType), BusinessID: decode.Value(b.BusinessID)},
		PerSecond: decode.Value(b.PerSecond), DueAt: b.DueAt, Delay: b.Delay, Recurrence: b.Recurrence, LatestAt: b.LatestAt,
		WarmUp: decode.Value(b.WarmUp), Per: decode.Value(b.Per), PageSize: decode.Value(b.PageSize),
		Callback: b.Callback, Retry: b.Retry, Loader: b.Loader,
	}
	if order.Callback != nil {
		order.Callback.URL = decode.ASCIIHost(order.Callback.URL)
	}
	if order.Loader != nil {
		order.Loader.URL = decode.ASCIIHost(order.Loader.URL)
	}
	return order
}

// missing is what is wrong with what the order leaves out.
func (b Body) missing() (errs wire.FieldErrors) {
	ways := 0
	for _, given := range []bool{b.Items != nil, decode.Value(b.Upload), b.Loader != nil} {
		if given {
			ways++
		}
	}
	switch ways {
	case 0:
		errs.AddBeside("/items", wire.CodeRequired, `give items, "upload": true or a loader`, "/upload", "/loader")
	case 1:
	default:
		errs.Add("/items", wire.CodeConflict, `give one of items, "upload": true and a loader`)
	}
	if b.PerSecond == nil {
		errs.Add("/per_second", wire.CodeRequired, "is required")
	}
	return errs
}

// ItemBody is an item as a client writes it.
type ItemBody struct {
	ID      *string        `json:"id"`
	Payload jsontext.Value `json:"payload"`
}

func (b ItemBody) item() dispatch.Item {
	return dispatch.Item{ID: decode.Value(b.ID), Payload: []byte(b.Payload)}
}

// readItem reads an item, which is a copy of what it needs of the text. There may be
// millions, so one that can be read is read at once, and only of another one it is found
// out why it cannot.
func readItem(text jsontext.Value) (item dispatch.Item, errs wire.FieldErrors) {
	if len(text) > limits.MaxItemLine {
		errs.AddMost("/payload", dispatch.MaxItem, "bytes")
		return item, errs
	}
	if decode.IsDeep(text, wire.MaxNesting) {
		errs.Add("", wire.CodeInvalidJSON, fmt.Sprintf("must not be nested more than %d deep", wire.MaxNesting))
		return item, errs
	}
	var body ItemBody
	if json.Unmarshal(text, &body, json.RejectUnknownMembers(true)) == nil && body.ID != nil {
		return body.item(), nil
	}
	members, err := decode.Parse(text)
	if err != nil {
		errs.Add("", wire.CodeInvalidJSON, "must be a JSON object without duplicate names. "+problems.DocumentOf(err).Detail)
		return item, errs
	}
	body = ItemBody{}
	errs = members.Fill(&body)
	if body.ID == nil {
		errs.Complete(wire.FieldErrors{{Pointer: "/id", Code: wire.CodeRequired, Detail: "is required"}})
	}
	return body.item(), errs
}

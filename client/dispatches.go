package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

const (
	dispatchesPath  = "/v1/dispatches"
	mediaTypeNDJSON = "application/x-ndjson"
	// maxLine is above the longest line of an answer, a dispatch with all of its shards.
	maxLine = 1 << 20
)

// Dispatches calls what there is to do with dispatches.
type Dispatches struct{ caller *caller }

// Order is a dispatch to start, with its items, up to 1,000 of them, or for an upload, or
// with a loader.
type Order struct {
	dispatch.Dispatch
	Items  []dispatch.Item `json:"items,omitempty"`
	Upload bool            `json:"upload,omitzero"`
}

// Item is an item of a dispatch.
func Item(id string, payload any) dispatch.Item {
	return dispatch.Item{ID: id, Payload: JSON(payload)}
}

// Start starts a dispatch, or opens it for an upload. created is false when the same one
// is there already.
func (d Dispatches) Start(ctx context.Context, order Order) (view dispatch.View, created bool, err error) {
	status, err := d.caller.do(ctx, call{method: http.MethodPost, path: dispatchesPath, body: order}, &view)
	return view, status == http.StatusCreated, err
}

// Upload sends the items of a dispatch that was opened for them, and so starts it. from
// is how many items are stored that shall be kept, and items are those behind them; 0
// begins anew. No item is kept in memory once it is sent. An error of items ends the
// upload, and starts nothing. An upload is made once: one that breaks off has stored
// [dispatch.View.Uploaded] items, and can go on from there. An item is sent as a line:
// a payload with line breaks reaches its receiver without the spaces between its parts,
// any other one byte for byte.
func (d Dispatches) Upload(ctx context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error]) (view dispatch.View, err error) {
	body, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := writeItems(out, items)
		out.CloseWithError(err)
		written <- err
	}()
	view, err = d.upload(ctx, key, from, body)
	_ = body.Close() // an answer that comes early ends the writer
	if wrong := <-written; err != nil && wrong != nil && !errors.Is(wrong, io.ErrClosedPipe) {
		err = wrong
	}
	return view, err
}

func (d Dispatches) upload(ctx context.Context, key wire.Key, from int, body io.Reader) (view dispatch.View, err error) {
	call := call{method: http.MethodPut, path: pathOfDispatch(key) + "/items", header: http.Header{"Content-Type": {mediaTypeNDJSON}}}
	if from > 0 {
		call.query = url.Values{"from": {strconv.Itoa(from)}}
	}
	response, err := d.caller.stream(ctx, call, body)
	if err != nil {
		return view, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = read(response, &view)
	return view, err
}

func writeItems(to io.Writer, items iter.Seq2[dispatch.Item, error]) error {
	out := bufio.NewWriterSize(to, 64<<10)
	lines := newEncoder()
	for item, err := range items {
		if err == nil && bytes.ContainsRune(item.Payload, '\n') {
			item.Payload, err = oneLine(item.Payload)
		}
		if err != nil {
			return err
		}
		line, err := lines.encode(item)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Get returns a dispatch as it stands.
func (d Dispatches) Get(ctx context.Context, key wire.Key) (view dispatch.View, err error) {
	_, err = d.caller.do(ctx, call{method: http.MethodGet, path: pathOfDispatch(key)}, &view)
	return view, err
}

// SetRate changes the rate. pending is whether no worker has applied it in time; it is
// durable.
func (d Dispatches) SetRate(ctx context.Context, key wire.Key, perSecond float64, wait Wait) (view dispatch.View, pending bool, err error) {
	change := dispatch.Change{PerSecond: &perSecond}
	return d.change(ctx, call{method: http.MethodPatch, path: pathOfDispatch(key), body: change}, wait)
}

// Pause stops a dispatch until it is resumed.
func (d Dispatches) Pause(ctx context.Context, key wire.Key, wait Wait) (view dispatch.View, pending bool, err error) {
	return d.change(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/pause"}, wait)
}

// Resume is the opposite of [Dispatches.Pause].
func (d Dispatches) Resume(ctx context.Context, key wire.Key, wait Wait) (view dispatch.View, pending bool, err error) {
	return d.change(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/resume"}, wait)
}

// Cancel ends a dispatch. One that is cancelled already is no problem.
func (d Dispatches) Cancel(ctx context.Context, key wire.Key, wait Wait) (view dispatch.View, pending bool, err error) {
	return d.change(ctx, call{method: http.MethodDelete, path: pathOfDispatch(key)}, wait)
}

func (d Dispatches) change(ctx context.Context, call call, wait Wait) (view dispatch.View, pending bool, err error) {
	if wait != nil {
		call.query = url.Values{"wait": {wait.String()}}
	}
	status, err := d.caller.do(ctx, call, &view)
	return view, status == http.StatusAccepted, err
}

// RetryFailures sends the items of a dispatch that has ended once more which were given
// up, and returns how many they are.
func (d Dispatches) RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error) {
	var answer struct {
		Retried  int
		Dispatch dispatch.View
	}
	_, err = d.caller.do(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/retry-failures", once: true}, &answer)
	return answer.Dispatch, answer.Retried, err
}

// Failures reads the items that were given up, one after the other. It ends with the
// first error.
func (d Dispatches) Failures(ctx context.Context, key wire.Key) iter.Seq2[dispatch.Failure, error] {
	return linesOf[dispatch.Failure](ctx, d.caller, pathOfDispatch(key)+"/failures")
}

// Follow returns how a dispatch stands, once a second, until it has ended or its receiver
// has seen enough. A stream that breaks off is opened again, as often as a call is tried
// without a word in between. It ends with the first error.
func (d Dispatches) Follow(ctx context.Context, key wire.Key) iter.Seq2[dispatch.View, error] {
	return func(yield func(dispatch.View, error) bool) {
		for try := 1; ; try++ {
			ended, err := d.follow(ctx, key, func(view dispatch.View) bool {
				try = 0
				return yield(view, nil)
			})
			again := errors.Is(err, errBrokenOff) || repeatable(err, false)
			switch {
			case ended:
				return
			case try >= d.caller.Tries || !again:
				yield(dispatch.View{}, err)
				return
			}
			if err := sleep(ctx, pause(max(try, 1), err)); err != nil {
				yield(dispatch.View{}, err)
				return
			}
		}
	}
}

// follow reads one stream. ended is whether there is nothing more to see.
func (d Dispatches) follow(ctx context.Context, key wire.Key, see func(dispatch.View) bool) (ended bool, err error) {
	response, err := d.caller.stream(ctx, call{method: http.MethodGet, path: pathOfDispatch(key) + "/events"}, http.NoBody)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLine)
	for kind := ""; lines.Scan(); {
		switch name, text := field(lines.Text()); name {
		case "event":
			kind = text
		case "data":
			var view dispatch.View
			if err := json.Unmarshal([]byte(text), &view); err != nil {
				return false, fmt.Errorf("the answer is not Wakecall's: %w", err)
			}
			if !see(view) || kind == "end" {
				return true, nil
			}
		}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return false, errBrokenOff
}

var errBrokenOff = errors.New("the stream broke off")

// field is a line of an event.
func field(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ":")
	return name, strings.TrimPrefix(value, " ")
}

// DispatchFilter selects dispatches. Its zero value selects all of them.
type DispatchFilter struct {
	BusinessType string
	Status       dispatch.Status
}

// List reads page after page, which lag behind by a moment. It ends with the first
// problem.
func (d Dispatches) List(ctx context.Context, filter DispatchFilter) iter.Seq2[dispatch.View, error] {
	query := url.Values{}
	if filter.BusinessType != "" {
		query.Set("business_type", filter.BusinessType)
	}
	if filter.Status != "" {
		query.Set("status", string(filter.Status))
	}
	return pagesOf[dispatch.View](ctx, d.caller, call{path: dispatchesPath, query: query}, "dispatches")
}

func pathOfDispatch(key wire.Key) string {
	return dispatchesPath + "/" + url.PathEscape(key.BusinessType) + "/" + url.PathEscape(key.BusinessID)
}

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
	// maxLine exceeds the longest line of an answer, a dispatch with all of its shards, in
	// bytes.
	maxLine = 1 << 20
)

// Dispatches manages dispatches.
type Dispatches struct{ caller *caller }

// Order is a dispatch to start. Its items are in the order, up to 1,000, or come by an upload or
// from a loader.
type Order struct {
	dispatch.Dispatch
	Items  []dispatch.Item `json:"items,omitempty"`
	Upload bool            `json:"upload,omitzero"`
}

// Item returns an item of a dispatch.
func Item(id string, payload any) dispatch.Item {
	return dispatch.Item{ID: id, Payload: JSON(payload)}
}

// Start starts a dispatch, or opens it for an upload. created is false if it exists already.
func (d Dispatches) Start(ctx context.Context, order Order) (view dispatch.View, created bool, err error) {
	status, err := d.caller.do(ctx, call{method: http.MethodPost, path: dispatchesPath, body: order}, &view)
	return view, status == http.StatusCreated, err
}

// Upload sends the items of a dispatch that was opened for them, and so starts it. from is the
// number of stored items to keep, and items follow them; 0 begins anew. Sent items are not kept
// in memory. An error of items ends the upload, and starts nothing. A refusal and the end of ctx
// end it at once: if items is then waiting for its next item, it goes on until it has that.
//
// Upload makes one try. It fails if Wakecall takes nothing for [DefaultTimeout]. After a failure,
// [dispatch.View.Uploaded] items are stored, and an upload can resume from there. An item is sent as
// a line. A payload with line breaks therefore loses the spaces between its parts; any other is sent
// byte for byte.
func (d Dispatches) Upload(
	ctx context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error],
) (view dispatch.View, err error) {
	body, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := writeItems(out, items)
		written <- err
		out.CloseWithError(err)
	}()
	view, err = d.upload(ctx, key, from, body)
	select {
	case wrong := <-written: // before the call has ended: the cause of its error
		if err != nil && wrong != nil && !errors.Is(wrong, io.ErrClosedPipe) {
			err = wrong
		}
	default:
	}
	_ = body.Close() // an early answer ends the writer
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

// Get returns a dispatch.
func (d Dispatches) Get(ctx context.Context, key wire.Key) (view dispatch.View, err error) {
	_, err = d.caller.do(ctx, call{method: http.MethodGet, path: pathOfDispatch(key)}, &view)
	return view, err
}

// SetRate changes the rate. pending reports whether no worker has applied it in time; it is
// durable.
func (d Dispatches) SetRate(ctx context.Context, key wire.Key, perSecond float64, wait Wait) (view dispatch.View, pending bool, err error) {
	change := dispatch.Change{PerSecond: &perSecond}
	return d.change(ctx, call{method: http.MethodPatch, path: pathOfDispatch(key), body: change}, wait)
}

// Pause pauses a dispatch until it is resumed.
func (d Dispatches) Pause(ctx context.Context, key wire.Key, wait Wait) (view dispatch.View, pending bool, err error) {
	return d.change(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/pause"}, wait)
}

// Resume resumes a paused dispatch.
func (d Dispatches) Resume(ctx context.Context, key wire.Key, wait Wait) (view dispatch.View, pending bool, err error) {
	return d.change(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/resume"}, wait)
}

// Cancel ends a dispatch. It succeeds for a cancelled one.
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

// RetryFailures sends the failed items of an ended dispatch again, and returns their number.
func (d Dispatches) RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error) {
	var answer struct {
		Retried  int
		Dispatch dispatch.View
	}
	_, err = d.caller.do(ctx, call{method: http.MethodPost, path: pathOfDispatch(key) + "/retry-failures", once: true}, &answer)
	return answer.Dispatch, answer.Retried, err
}

// Failures returns the items given up, one by one. It ends with the first error.
func (d Dispatches) Failures(ctx context.Context, key wire.Key) iter.Seq2[dispatch.Failure, error] {
	return linesOf[dispatch.Failure](ctx, d.caller, pathOfDispatch(key)+"/failures")
}

// Follow returns the state of a dispatch once a second, until it has ended or the caller stops.
// It reopens a broken or silent stream. [Options.Tries] bounds the tries in a row without an event.
// It ends with the first error.
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

// follow reads one stream. ended reports whether there is nothing more to read.
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
				return false, fmt.Errorf("the answer is not from Wakecall: %w", err)
			}
			if !see(view) || kind == "end" {
				return true, nil
			}
		}
	}
	if err := lines.Err(); isSilence(err) {
		return false, err
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return false, errBrokenOff
}

var errBrokenOff = errors.New("the stream broke off")

// field parses a line of an event.
func field(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ":")
	return name, strings.TrimPrefix(value, " ")
}

// DispatchFilter selects dispatches. Its zero value selects all of them.
type DispatchFilter struct {
	BusinessType string
	Status       dispatch.Status
}

// List lists dispatches page by page. Lists lag behind by a moment. It ends with the first
// error.
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

package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

func itemsOf(items ...dispatch.Item) iter.Seq2[dispatch.Item, error] {
	return func(yield func(dispatch.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func TestADispatchIsOrdered(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 201, body: `{"status":"running","items":2}`}, {status: 200, body: `{}`}, {status: 202, body: `{}`}}}
	c := w.client().Dispatches
	order := Order{
		Dispatch: dispatch.Dispatch{Key: key, PerSecond: 50, WarmUp: wire.Duration(time.Second)},
		Items:    []dispatch.Item{Item("a", map[string]int{"n": 1}), {ID: "b"}},
	}
	view, created, err := c.Start(t.Context(), order)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, 2, *view.Items)
	require.JSONEq(t, `{"business_type":"order-close","business_id":"a~b@c","per_second":50,"warm_up":"1s","items":[{"id":"a","payload":{"n":1}},{"id":"b"}]}`, w.bodies[0])
	order.Items, order.Upload = nil, true
	_, created, err = c.Start(t.Context(), order)
	require.NoError(t, err)
	require.False(t, created)
	require.Contains(t, w.bodies[1], `"upload":true`)
	_, pending, err := c.SetRate(t.Context(), key, 0.5, After(0))
	require.NoError(t, err)
	require.True(t, pending)
	require.Equal(t, "PATCH /v1/dispatches/order-close/a~b@c?wait=0s", w.requests[2].Method+" "+w.requests[2].URL.RequestURI())
	require.JSONEq(t, `{"per_second":0.5}`, w.bodies[2])
}

func TestItemsAreUploaded(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 200, body: `{"status":"running"}`}}}
	items := itemsOf(Item("a", "<\n>"), dispatch.Item{ID: "b", Payload: []byte("{\n \"n\": 1}")}, dispatch.Item{ID: "c"})
	view, err := w.client().Dispatches.Upload(t.Context(), key, 7, items)
	require.NoError(t, err)
	require.Equal(t, dispatch.Running, view.Status)
	require.Equal(t, "PUT /v1/dispatches/order-close/a~b@c/items?from=7", w.requests[0].Method+" "+w.requests[0].URL.RequestURI())
	require.Equal(t, "application/x-ndjson", w.requests[0].Header.Get("Content-Type"))
	require.Equal(t, "Bearer secret", w.requests[0].Header.Get("Authorization"))
	lines := strings.Split(strings.TrimSuffix(w.bodies[0], "\n"), "\n")
	require.Len(t, lines, 3, "an item is a line")
	require.JSONEq(t, `{"id":"b","payload":{"n":1}}`, lines[1])
	require.JSONEq(t, `{"id":"c"}`, lines[2])
}

// An upload with an unreadable item is broken off, so that nothing starts.
func TestAnUploadEndsWithItsItems(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 200, body: `{}`}}}
	gone := errors.New("the file is gone")
	_, err := w.client().Dispatches.Upload(t.Context(), key, 0, func(yield func(dispatch.Item, error) bool) {
		_ = yield(Item("a", 1), nil) && yield(dispatch.Item{}, gone)
	})
	require.ErrorIs(t, err, gone)
}

// An early answer ends the upload, for any number of items.
func TestAnUploadThatIsRefused(t *testing.T) {
	refusing := roundTrip(func(r *http.Request) (*http.Response, error) {
		_, err := io.ReadFull(r.Body, make([]byte, 10))
		require.NoError(t, err)
		return &http.Response{StatusCode: 409, Body: io.NopCloser(strings.NewReader(`{"type":"urn:wakecall:problem:already-finished","detail":"d"}`))}, nil
	})
	c := New(Options{URL: "http://wakecall.test", HTTP: &http.Client{Transport: refusing}})
	_, err := c.Dispatches.Upload(t.Context(), key, 0, func(yield func(dispatch.Item, error) bool) {
		for yield(Item("a", 1), nil) {
		}
	})
	var problem *Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, wire.AlreadyFinished, problem.Code())
}

// A refusal, or the end of the context, ends an upload whose next item is still to come.
func TestAnUploadEndsBeforeItsNextItem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(r *http.Request, cancel func()) (*http.Response, error)
		want   func(t *testing.T, err error)
	}{
		"refused": {
			func(*http.Request, func()) (*http.Response, error) {
				return &http.Response{StatusCode: 409, Body: io.NopCloser(strings.NewReader(`{"type":"urn:wakecall:problem:already-finished","detail":"d"}`))}, nil
			},
			func(t *testing.T, err error) {
				t.Helper()
				problem, ok := errors.AsType[*Problem](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, wire.AlreadyFinished, problem.Code())
			},
		},
		"cancelled": {
			func(r *http.Request, cancel func()) (*http.Response, error) {
				cancel()
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
			func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, context.Canceled) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				by := roundTrip(func(r *http.Request) (*http.Response, error) { return c.answer(r, cancel) })
				client := New(Options{URL: "http://wakecall.test", HTTP: &http.Client{Transport: by}})
				next, asked, ended := make(chan dispatch.Item), 0, make(chan struct{})
				_, err := client.Dispatches.Upload(ctx, key, 0, func(yield func(dispatch.Item, error) bool) {
					defer close(ended)
					for item := range next {
						if asked++; !yield(item, nil) {
							return
						}
					}
				})
				c.want(t, err)
				next <- dispatch.Item{ID: "a", Payload: []byte(`"` + strings.Repeat("a", 1<<20) + `"`)}
				<-ended
				require.Equal(t, 1, asked, "no other item is asked for")
			})
		})
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streams answers one request after the other, each with a body that may break off.
func streams(bodies ...io.Reader) (*Client, *int) {
	asked := new(int)
	return New(Options{URL: "http://wakecall.test", Tries: 3, HTTP: &http.Client{Timeout: time.Second, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		body := bodies[min(*asked, len(bodies)-1)]
		*asked++
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body)}, nil
	})}}), asked
}

func TestFailuresAreRead(t *testing.T) {
	const two = "{\"id\":\"a\",\"webhook_id\":\"msg_1\"}\n{\"id\":\"b\",\"failure\":{\"status\":503,\"message\":\"HTTP 503\",\"at\":\"2026-11-21T09:30:00.000Z\"}}\n"
	read := func(body io.Reader) (ids []string, err error) {
		c, _ := streams(body)
		for failure, err := range c.Dispatches.Failures(t.Context(), key) {
			if err != nil {
				return ids, err
			}
			ids = append(ids, failure.ID)
		}
		return ids, nil
	}
	ids, err := read(strings.NewReader(two))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids)
	ids, err = read(strings.NewReader(""))
	require.NoError(t, err)
	require.Empty(t, ids)
	for _, cut := range []string{two, two[:40]} {
		_, err = read(io.MultiReader(strings.NewReader(cut), iotest.ErrReader(io.ErrUnexpectedEOF)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a part is not taken for the whole")
	}
}

func TestADispatchIsFollowed(t *testing.T) {
	event := func(kind, status string) string {
		return "event: " + kind + "\ndata: {\"status\":\"" + status + "\"}\n\n"
	}
	follow := func(ctx context.Context, c *Client) (seen []dispatch.Status, err error) {
		for view, err := range c.Dispatches.Follow(ctx, key) {
			if err != nil {
				return seen, err
			}
			seen = append(seen, view.Status)
		}
		return seen, nil
	}
	synctest.Test(t, func(t *testing.T) {
		c, asked := streams(
			strings.NewReader("retry: 1000\n\n"+event("progress", "running")),
			io.MultiReader(strings.NewReader(event("progress", "paused")), iotest.ErrReader(io.ErrUnexpectedEOF)),
			strings.NewReader(": hello\n\n"+event("progress", "running")+event("end", "done")+event("progress", "lost")))
		seen, err := follow(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, []dispatch.Status{dispatch.Running, dispatch.Paused, dispatch.Running, dispatch.Done}, seen)
		require.Equal(t, 3, *asked)
	})
	synctest.Test(t, func(t *testing.T) {
		c, asked := streams(bytes.NewReader(nil))
		_, err := follow(t.Context(), c)
		require.ErrorIs(t, err, errBrokenOff)
		require.Equal(t, 3, *asked, "not for ever")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = follow(ctx, c)
		require.ErrorIs(t, err, context.Canceled)
	})
	synctest.Test(t, func(t *testing.T) {
		w := &wakecall{answers: []answer{away, slow, {status: 200, body: event("end", "done")}}}
		seen, err := follow(t.Context(), w.client())
		require.NoError(t, err, "a gateway that restarts behind a proxy")
		require.Equal(t, []dispatch.Status{dispatch.Done}, seen)
	})
	c, _ := streams(strings.NewReader("event: progress\ndata: <html>\n\n"))
	_, err := follow(t.Context(), c)
	require.ErrorContains(t, err, "not from Wakecall")
	w := &wakecall{answers: []answer{{status: 404, body: `{"detail":"There is no such dispatch."}`}}}
	_, err = follow(t.Context(), w.client())
	require.ErrorContains(t, err, "no such dispatch")
	c, _ = streams(strings.NewReader(event("progress", "running")))
	for _, err := range c.Dispatches.Follow(t.Context(), key) {
		require.NoError(t, err)
		break
	}
}

func TestDispatchesAreListed(t *testing.T) {
	w := &wakecall{answers: []answer{
		{status: 200, body: `{"dispatches":[{"business_id":"1"}],"next_page_token":"x"}`}, {status: 200, body: `{"dispatches":[{"business_id":"2"}],"next_page_token":""}`},
	}}
	var ids []string
	for view, err := range w.client().Dispatches.List(t.Context(), DispatchFilter{BusinessType: "a", Status: dispatch.Running}) {
		require.NoError(t, err)
		ids = append(ids, view.BusinessID)
	}
	require.Equal(t, []string{"1", "2"}, ids)
	require.Equal(t, "/v1/dispatches?business_type=a&page_token=x&status=running", w.requests[1].URL.RequestURI())
}

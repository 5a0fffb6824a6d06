package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

// A payload reaches Wakecall unchanged: its receiver gets these bytes, and the same timer booked
// by other means is the same.
func TestPayloadsAreSentByteForByte(t *testing.T) {
	t.Parallel()
	const given = "{ \"a\": \"<b>&\u2028\\u003c\",\n\t\"n\": 1.50e0, \"n\": [ ] }"
	terms := Terms{Payload: json.RawMessage(given)}
	item := dispatch.Item{ID: "a", Payload: terms.Payload}
	for name, send := range map[string]func(c *Client) error{
		"post":  func(c *Client) error { _, _, err := c.Timers.Add(t.Context(), Booking{key, terms}); return err },
		"put":   func(c *Client) error { _, _, err := c.Timers.Put(t.Context(), Booking{key, terms}, nil); return err },
		"patch": func(c *Client) error { _, _, err := c.Timers.Patch(t.Context(), key, terms, nil); return err },
		"batch": func(c *Client) error {
			_, err := c.Timers.AddBatch(t.Context(), []Booking{{key, terms}, {key, Terms{}}, {key, terms}})
			return err
		},
		"dispatch": func(c *Client) error {
			_, _, err := c.Dispatches.Start(t.Context(), Order{Items: []dispatch.Item{item, {ID: "b"}, item}})
			return err
		},
		"bulk": func(c *Client) error {
			_, _, err := c.Bulk.Start(t.Context(), BulkOrder{Operation: job.Edit, Edit: &terms})
			return err
		},
	} {
		w := &wakecall{answers: []answer{{status: http.StatusOK, body: `{}`}}}
		require.NoError(t, send(w.client()), name)
		require.Contains(t, w.bodies[0], `"payload":`+given+`}`, name)
		require.True(t, json.Valid([]byte(w.bodies[0])), "%s: %s", name, w.bodies[0])
	}
}

// An item is a line, so only payloads with line breaks are rewritten.
func TestUploadedPayloads(t *testing.T) {
	t.Parallel()
	w := &wakecall{answers: []answer{{status: http.StatusOK, body: `{}`}}}
	items := itemsOf(
		dispatch.Item{ID: "a", Payload: []byte(`{"a": "<b>\u003c"}`)}, dispatch.Item{ID: "b", Payload: []byte("{\n\t\"a\": \"<b>\\u003c \\n\", \"n\": 1.50\r\n}")},
		dispatch.Item{ID: "c"},
	)
	_, err := w.client().Dispatches.Upload(t.Context(), key, 0, items)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"id":"a","payload":{"a": "<b>\u003c"}}`, `{"id":"b","payload":{"a":"<b>\u003c \n","n":1.50}}`, `{"id":"c"}`, "",
	}, strings.Split(w.bodies[0], "\n"))
	_, err = w.client().Dispatches.Upload(t.Context(), key, 0, itemsOf(dispatch.Item{ID: "a", Payload: []byte("{\n")}))
	require.Error(t, err, "nothing is sent that is no JSON")
}

// Beside raw values, a call is encoded as by encoding/json: empty fields are left out or sent as
// their tags say.
func TestTheRestIsEncodedAsBefore(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		nil, Booking{}, Terms{Labels: &timer.Labels{}, OnFailed: &delivery.Alert{}, Delay: After(0), Bytes: []byte{0, 255}},
		Order{Dispatch: dispatch.Dispatch{Key: key, PerSecond: 0.5}, Upload: true},
		map[string]any{"b": nil, "a": []any{1.5, "<", true}, "c": map[string]string{}, "d": []string(nil)},
		EmergencyOrder{Note: "<>"}, BulkOrder{Edit: &Terms{}, Filter: timer.Filter{Labels: timer.Labels{"b": "1", "a": "2"}}},
		policy.Policy{BusinessType: "a", Retry: delivery.Retry{}},
	} {
		want, err := json.Marshal(value)
		require.NoError(t, err)
		text, err := newEncoder().encode(value)
		require.NoError(t, err)
		require.Equal(t, string(want), string(text))
	}
}

func TestWhatIsJSONAlreadyIsKept(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"a": "<b>"}`, string(JSON(json.RawMessage(`{"a": "<b>"}`))))
	require.Equal(t, "null", string(JSON(json.RawMessage(nil))))
}

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	apidispatches "github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/auth"
)

// desk are dispatches that note what they are asked, and answer with what they are told.
type desk struct {
	mu       sync.Mutex
	asked    []string
	order    dispatch.Dispatch
	items    []dispatch.Item
	from     int
	change   dispatch.Change
	wait     time.Duration
	request  dispatches.Request
	views    []dispatch.View // one after the other; the last one stays
	failures []dispatch.Failure
	pending  bool
	repeated bool
	err      error
}

func (d *desk) note(what string, key wire.Key) (dispatch.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, what)
	view := dispatch.View{Key: key, Status: dispatch.Running}
	if len(d.views) > 0 {
		view = d.views[0]
		d.views = d.views[min(1, len(d.views)-1):]
	}
	return view, d.err
}

func (d *desk) Add(_ context.Context, order dispatch.Dispatch, items []dispatch.Item) (dispatch.View, bool, error) {
	if err := order.Check(time.Now()).Err(); err != nil {
		return dispatch.View{}, false, err
	}
	d.order, d.items = order, items
	view, err := d.note("add", order.Key)
	return view, !d.repeated, err
}

func (d *desk) Open(_ context.Context, order dispatch.Dispatch) (dispatch.View, bool, error) {
	if err := order.Check(time.Now()).Err(); err != nil {
		return dispatch.View{}, false, err
	}
	d.order = order
	view, err := d.note("open", order.Key)
	return view, !d.repeated, err
}

func (d *desk) UploadAll(_ context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error]) (dispatch.View, error) {
	d.from = from
	for item, err := range items {
		if err != nil {
			return dispatch.View{}, err
		}
		d.items = append(d.items, item)
	}
	return d.note("upload", key)
}

func (d *desk) Get(_ context.Context, key wire.Key) (dispatch.View, error) {
	return d.note("get", key)
}

func (d *desk) List(_ context.Context, r dispatches.Request) ([]dispatch.View, []byte, error) {
	d.request = r
	_, err := d.note("list", wire.Key{})
	return nil, []byte("more"), err
}

func (d *desk) control(what string, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	d.wait = wait
	view, err := d.note(what, key)
	return view, !d.pending, err
}

func (d *desk) Change(_ context.Context, key wire.Key, change dispatch.Change, wait time.Duration) (dispatch.View, bool, error) {
	d.change = change
	return d.control("change", key, wait)
}

func (d *desk) Pause(_ context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	return d.control("pause", key, wait)
}

func (d *desk) Resume(_ context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	return d.control("resume", key, wait)
}

func (d *desk) Cancel(_ context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	return d.control("cancel", key, wait)
}

func (d *desk) Failures(_ context.Context, key wire.Key, see func(dispatch.Failure) error) error {
	for _, failure := range d.failures {
		if err := see(failure); err != nil {
			return err
		}
	}
	_, err := d.note("failures", key)
	return err
}

func (d *desk) RetryFailures(_ context.Context, key wire.Key) (dispatch.View, int, error) {
	view, err := d.note("retry-failures", key)
	return view, 3, err
}

// ask makes a call on the dispatches.
func (d *desk) ask(method, path, kind string, body io.Reader) *httptest.ResponseRecorder {
	server := New(Options{
		Dispatches: apidispatches.Options{Dispatches: d, Controls: d, Failures: d},
		Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
		Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.Anyone()},
	})
	request := httptest.NewRequest(method, here+path, body)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, request)
	return answer
}

func (d *desk) json(method, path, body string) *httptest.ResponseRecorder {
	return d.ask(method, path, "application/json", strings.NewReader(body))
}

func problemIn(t *testing.T, answer *httptest.ResponseRecorder) (problem problem.Document) {
	t.Helper()
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &problem), "%s", answer.Body)
	return problem
}

func TestADispatchIsOrdered(t *testing.T) {
	t.Parallel()
	const order = `{"business_type":"reminder","business_id":"tonight","per_second":0.5,"warm_up":"10s","latest_at":"2040-01-01T00:00:00Z",` +
		`"callback_per":"page","page_size":50,"callback":{"url":"https://bücher.example/"},"retry":{"steps":["1s"]}`
	d := &desk{}
	answer := d.json("POST", "/v1/dispatches", order+`,"items":[{"id":"a","payload":{"n": 1}},{"id":"b"},{"id":"c","payload":null}]}`)
	require.Equal(t, http.StatusCreated, answer.Code, "%s", answer.Body)
	require.Equal(t, "/v1/dispatches/reminder/tonight", answer.Header().Get("Location"))
	require.Equal(t, []string{"add"}, d.asked)
	require.Equal(t, wire.Key{BusinessType: "reminder", BusinessID: "tonight"}, d.order.Key)
	require.Equal(t, "https://xn--bcher-kva.example/", d.order.Callback.URL)
	require.InDelta(t, 0.5, d.order.PerSecond, 0)
	require.Equal(t, []any{wire.Duration(10 * time.Second), dispatch.PerPage, 50}, []any{d.order.WarmUp, d.order.Per, d.order.PageSize})
	require.Equal(t, []dispatch.Item{
		{ID: "a", Payload: json.RawMessage(`{"n": 1}`)}, {ID: "b"}, {ID: "c", Payload: json.RawMessage(`null`)},
	}, d.items, "byte for byte")

	d = &desk{repeated: true}
	answer = d.json("POST", "/v1/dispatches", order+`,"upload":true}`)
	require.Equal(t, http.StatusOK, answer.Code, "%s", answer.Body)
	require.Equal(t, []string{"open"}, d.asked)

	d = &desk{}
	answer = d.json("POST", "/v1/dispatches", order+`,"loader":{"url":"https://h/items","shards":25,"page_size":100,"timeout":"5s"},"upload":false}`)
	require.Equal(t, http.StatusCreated, answer.Code, "%s", answer.Body)
	require.Equal(t, &dispatch.Loader{URL: "https://h/items", Shards: 25, PageSize: 100, Timeout: wire.Duration(5 * time.Second)}, d.order.Loader)
	require.Empty(t, d.items)
}

func TestOrdersThatAreRefused(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"id":"x"},`, dispatch.MaxInlineItems) + `{"id":"y"}`
	for body, pointers := range map[string][]string{
		`{}`:                                 {"/items", "/per_second", "/business_type", "/business_id"},
		`{%s,"per_second":1}`:                {"/items"},
		`{%s,"per_second":1,"upload":false}`: {"/items"},
		`{%s,"per_second":1,"upload":true,"items":[{"id":"a"}]}`:                           {"/items"},
		`{%s,"per_second":1,"upload":true,"loader":{"url":"https://h/"}}`:                  {"/items"},
		`{%s,"per_second":0,"upload":true}`:                                                {"/per_second"},
		`{%s,"per_second":-1,"upload":true}`:                                               {"/per_second"},
		`{%s,"per_second":1e9,"upload":true}`:                                              {"/per_second"},
		`{%s,"per_second":1e999,"upload":true}`:                                            {"/per_second"},
		`{%s,"per_second":"NaN","upload":true}`:                                            {"/per_second"},
		`{%s,"per_second":null,"upload":true}`:                                             {"/per_second"},
		`{%s,"per_second":1,"upload":true,"rate":1}`:                                       {"/rate"},
		`{%s,"per_second":1,"upload":true,"warm_up":"2h"}`:                                 {"/warm_up"},
		`{%s,"per_second":1,"upload":true,"warm_up":"-1s"}`:                                {"/warm_up"},
		`{%s,"per_second":1,"upload":true,"callback_per":"batch"}`:                         {"/callback_per"},
		`{%s,"per_second":1,"upload":true,"callback_per":"page","page_size":0}`:            {"/page_size"},
		`{%s,"per_second":1,"upload":true,"callback_per":"page","page_size":1001}`:         {"/page_size"},
		`{%s,"per_second":1,"upload":true,"callback":{"url":"ftp://h/"}}`:                  {"/callback/url"},
		`{%s,"per_second":1,"upload":true,"delay":"1s","due_at":"2030-01-01T00:00:00Z"}`:   {"/delay"},
		`{%s,"per_second":1,"loader":{}}`:                                                  {"/loader/url"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","shards":0}}`:                     {"/loader/shards"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","shards":101}}`:                   {"/loader/shards"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","page_size":0}}`:                  {"/loader/page_size"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","page_size":5000}}`:               {"/loader/page_size"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","timeout":"2m"}}`:                 {"/loader/timeout"},
		`{%s,"per_second":1,"loader":{"url":"https://h/","cursor":"x"}}`:                   {"/loader/cursor"},
		`{%s,"per_second":1,"items":{}}`:                                                   {"/items"},
		`{%s,"per_second":1,"items":[]}`:                                                   {"/items"},
		`{%s,"per_second":1,"items":[` + many + `]}`:                                       nil, // below
		`{%s,"per_second":1,"items":[{"id":"a"},{"id":"a"}]}`:                              {"/items/1/id"},
		`{%s,"per_second":1,"items":[1,{"id":"ä"},{"payload":1},{"id":"a","payloads":1}]}`: {"/items/0", "/items/2/id", "/items/3/payloads", "/items/1/id"},
		`{%s,"per_second":1,"items":[{"id":"a","attempts":1}]}`:                            {"/items/0/attempts"},
		`{%s,"per_second":1,"items":[{"id":null}]}`:                                        {"/items/0/id"},
	} {
		d := &desk{}
		text := strings.Replace(body, "%s", `"business_type":"reminder","business_id":"tonight"`, 1)
		answer := d.json("POST", "/v1/dispatches", text)
		require.Equal(t, http.StatusUnprocessableEntity, answer.Code, "%s: %s", text[:min(len(text), 200)], answer.Body)
		var named []string
		for _, fieldErr := range problemIn(t, answer).Errors {
			named = append(named, fieldErr.Pointer)
		}
		if pointers == nil {
			require.Equal(t, "/items", named[0])
		} else {
			require.Equal(t, pointers, named, "%s: %s", text, answer.Body)
		}
		require.Empty(t, d.asked)
	}
	d := &desk{}
	answer := d.json("POST", "/v1/dispatches", `{"items":"`+strings.Repeat("x", limits.MaxDispatchBody)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.Code)
	require.Equal(t, http.StatusUnsupportedMediaType, d.ask("POST", "/v1/dispatches", unbounded.MediaTypeNDJSON, strings.NewReader("{}")).Code)
	require.Equal(t, http.StatusBadRequest, d.json("POST", "/v1/dispatches", `{"a":1,"a":2}`).Code)
	require.Empty(t, d.asked)
}

const itemsPath = "/v1/dispatches/reminder/tonight/items"

func TestItemsAreUploaded(t *testing.T) {
	t.Parallel()
	d := &desk{}
	answer := d.ask("PUT", itemsPath, unbounded.MediaTypeNDJSON, strings.NewReader("{\"id\":\"a\",\"payload\":{\"n\": 1}}\n\n{\"id\":\"b\"}\r\n"))
	require.Equal(t, http.StatusOK, answer.Code, "%s", answer.Body)
	require.Equal(t, []dispatch.Item{{ID: "a", Payload: json.RawMessage(`{"n": 1}`)}, {ID: "b"}}, d.items)
	require.Zero(t, d.from)

	d = &desk{}
	answer = d.ask("PUT", itemsPath+"?from=2000", unbounded.MediaTypeNDJSON+"; charset=utf-8", strings.NewReader(`{"id":"c"}`))
	require.Equal(t, http.StatusOK, answer.Code, "%s", answer.Body)
	require.Equal(t, 2000, d.from)

	for target, kind := range map[string]string{
		itemsPath: "application/json", itemsPath + "?from=-1": unbounded.MediaTypeNDJSON, itemsPath + "?from=x": unbounded.MediaTypeNDJSON,
		itemsPath + "?form=1": unbounded.MediaTypeNDJSON, "/v1/dispatches/Reminder/tonight/items": unbounded.MediaTypeNDJSON,
	} {
		d = &desk{}
		answer = d.ask("PUT", target, kind, strings.NewReader(`{"id":"c"}`))
		require.Contains(t, []int{http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType}, answer.Code, target)
		require.Empty(t, d.items)
	}
}

// Nothing starts while a line cannot be read, and one answer names every such line.
func TestLinesThatAreNoItems(t *testing.T) {
	t.Parallel()
	d := &desk{}
	large := `{"id":"a","payload":"` + strings.Repeat("x", dispatch.MaxItem) + `"}`
	answer := d.ask("PUT", itemsPath, unbounded.MediaTypeNDJSON, strings.NewReader(strings.Join([]string{
		`{"id":"1"}`, `{"id":"2"`, ``, `[]`, `{"id":"5","id":"5"}`, `{"id":"6"} {"id":"6"}`, `{"payload":1}`, `{"id":8}`, `{"id":"9","x":1}`,
		large, strings.Repeat("x", 3*limits.MaxItemLine), `{"id":"12","payload":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		"{\"id\":\"\xff\"}", `{"id":"a b"}`, `{"id":"15"}`,
	}, "\n")))
	require.Equal(t, http.StatusUnprocessableEntity, answer.Code)
	named := map[string]wire.FieldErrorCode{}
	for _, fieldErr := range problemIn(t, answer).Errors {
		named[fieldErr.Pointer] = fieldErr.Code
	}
	require.Equal(t, map[string]wire.FieldErrorCode{
		"/2": wire.CodeInvalidJSON, "/4": wire.CodeInvalidJSON, "/5": wire.CodeInvalidJSON, "/6": wire.CodeInvalidJSON,
		"/7/id": wire.CodeRequired, "/8/id": wire.CodeInvalidType, "/9/x": wire.CodeUnknownField, "/10/payload": wire.CodeTooLarge,
		"/11/payload": wire.CodeTooLarge, "/12": wire.CodeInvalidJSON, "/13": wire.CodeInvalidJSON, "/14/id": wire.CodeInvalidBusinessID,
	}, named)
	require.Contains(t, problemIn(t, answer).Detail, "Nothing was started.")
	require.Equal(t, []dispatch.Item{{ID: "1"}}, d.items)
	require.Empty(t, d.asked, "nothing was started")
}

// An upload of which nothing can be read is not read for ever.
func TestAnUploadOfRubbishEnds(t *testing.T) {
	t.Parallel()
	d, rubbish := &desk{}, &endless{line: []byte("rubbish\n")}
	answer := d.ask("PUT", itemsPath, unbounded.MediaTypeNDJSON, rubbish)
	require.Equal(t, http.StatusUnprocessableEntity, answer.Code)
	require.Len(t, problemIn(t, answer).Errors, wire.MaxFieldErrors)
	require.Less(t, rubbish.read, 1<<20)
}

// endless is a text that repeats a line for ever.
type endless struct {
	line []byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.read%len(e.line):])
	e.read += n
	return n, nil
}

func TestAnUploadThatBreaksOffStartsNothing(t *testing.T) {
	t.Parallel()
	d := &desk{}
	broken := io.MultiReader(strings.NewReader("{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":"), iotest.ErrReader(io.ErrUnexpectedEOF))
	answer := d.ask("PUT", itemsPath, unbounded.MediaTypeNDJSON, broken)
	require.Equal(t, http.StatusBadRequest, answer.Code)
	require.Contains(t, problemIn(t, answer).Detail, "broke off after line 2")
	require.Len(t, d.items, 2)
	require.Empty(t, d.asked, "nothing was started")

	answer = (&desk{}).ask("PUT", itemsPath, unbounded.MediaTypeNDJSON, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}"))))
	require.Equal(t, http.StatusBadRequest, answer.Code, "iotest's timeout is none of a connection")
}

func TestDispatchesAreControlled(t *testing.T) {
	t.Parallel()
	const path = "/v1/dispatches/reminder/to~night"
	for call, want := range map[string]struct {
		body, asked string
	}{
		"PATCH ?wait=0s":      {`{"per_second":0.25}`, "change"},
		"DELETE ?wait=0s":     {"", "cancel"},
		"POST /pause?wait=0s": {"", "pause"}, "POST /resume?wait=0s": {"", "resume"},
	} {
		method, target, _ := strings.Cut(call, " ")
		d := &desk{wait: time.Hour}
		answer := d.json(method, path+target, want.body)
		require.Equal(t, http.StatusOK, answer.Code, "%s: %s", call, answer.Body)
		require.Equal(t, []string{want.asked}, d.asked)
		require.Zero(t, d.wait)

		d = &desk{pending: true}
		answer = d.json(method, path+strings.TrimSuffix(target, "?wait=0s"), want.body)
		require.Equal(t, http.StatusAccepted, answer.Code)
		require.Equal(t, path, answer.Header().Get("Location"))
		require.Equal(t, kernel.DefaultWait, d.wait)

		d = &desk{err: &wire.Error{Code: wire.AlreadyFinished, Message: "The dispatch is done."}}
		require.Equal(t, http.StatusConflict, d.json(method, path+target, want.body).Code)
	}
	d := &desk{}
	require.Equal(t, http.StatusOK, d.json("PATCH", path, `{"per_second":0.25}`).Code)
	require.InDelta(t, 0.25, *d.change.PerSecond, 0)
	for _, body := range []string{`{}`, `{"per_second":0}`, `{"per_second":null}`, `{"per_second":1e6}`, `{"per_second":1,"paused":true}`, `{"per_second":"1"}`} {
		d = &desk{}
		answer := d.json("PATCH", path, body)
		require.Equal(t, http.StatusUnprocessableEntity, answer.Code, body)
		require.Len(t, problemIn(t, answer).Errors, 1, body)
		require.Empty(t, d.asked)
	}
	d = &desk{}
	answer := d.json("POST", path+"/retry-failures", "")
	require.Equal(t, http.StatusAccepted, answer.Code)
	require.Contains(t, answer.Body.String(), `{"retried":3,"dispatch":{`)
	require.Equal(t, http.StatusOK, d.ask("GET", path, "", nil).Code)
	require.Equal(t, http.StatusUnprocessableEntity, d.ask("GET", path+"?wait=1s", "", nil).Code)
	require.Equal(t, http.StatusMethodNotAllowed, d.ask("PUT", path, "", nil).Code)
}

func TestDispatchesAreListed(t *testing.T) {
	t.Parallel()
	d := &desk{}
	answer := d.ask("GET", "/v1/dispatches?business_type=reminder&status=running&page_size=7", "", nil)
	require.Equal(t, http.StatusOK, answer.Code)
	require.Equal(t, dispatches.Request{BusinessType: "reminder", Status: dispatch.Running, Size: 7}, d.request)
	var page apidispatches.ListBody
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &page))
	require.Contains(t, answer.Body.String(), `"dispatches":[]`)
	answer = d.ask("GET", "/v1/dispatches?business_type=reminder&status=running&page_token="+page.NextPageToken, "", nil)
	require.Equal(t, http.StatusOK, answer.Code)
	require.Equal(t, "more", string(d.request.Token))
	for _, query := range []string{"status=lost", "page_size=0", "page_size=101", "business_type=A", "since=x", "page_token=" + page.NextPageToken} {
		require.Equal(t, http.StatusUnprocessableEntity, d.ask("GET", "/v1/dispatches?"+query, "", nil).Code, query)
	}
}

func TestDispatchesOfOtherTypesAreForbidden(t *testing.T) {
	t.Parallel()
	d := &desk{}
	server := New(Options{
		Dispatches: apidispatches.Options{Dispatches: d, Controls: d, Failures: d},
		Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
		Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: authOf(t, "shop", ":operator:order")},
	})
	ask := func(method, path, body string) int {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer.Code
	}
	order := `{"business_type":%q,"business_id":"1","per_second":1,"upload":true}`
	require.Equal(t, http.StatusForbidden, ask("POST", "/v1/dispatches", fmt.Sprintf(order, "invoice")))
	require.Equal(t, http.StatusForbidden, ask("GET", "/v1/dispatches", ""))
	require.Equal(t, http.StatusForbidden, ask("GET", "/v1/dispatches?business_type=invoice", ""))
	require.Equal(t, http.StatusForbidden, ask("GET", "/v1/dispatches/invoice/1/events", ""))
	require.Empty(t, d.asked)
	require.Equal(t, http.StatusCreated, ask("POST", "/v1/dispatches", fmt.Sprintf(order, "order")))
	require.Equal(t, http.StatusOK, ask("GET", "/v1/dispatches?business_type=order", ""))
}

func TestFailuresOfADispatch(t *testing.T) {
	t.Parallel()
	const path = "/v1/dispatches/reminder/tonight/failures"
	failure := dispatch.Failure{
		Item: dispatch.Item{ID: "a", Payload: json.RawMessage(`{"n":1}`), Attempts: 2, Failure: &delivery.Failure{Status: 503}}, WebhookID: "msg_1",
	}
	d := &desk{failures: []dispatch.Failure{failure, failure}}
	answer := d.ask("GET", path, "", nil)
	require.Equal(t, http.StatusOK, answer.Code)
	require.Equal(t, unbounded.MediaTypeNDJSON, answer.Header().Get("Content-Type"))
	lines := strings.Split(strings.TrimSuffix(answer.Body.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	var got dispatch.Failure
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &got))
	require.Equal(t, failure, got)

	require.Empty(t, (&desk{}).ask("GET", path, "", nil).Body.String())
	d.err = &wire.Error{Code: wire.NotFound, Message: "There is no such dispatch."}
	answer = d.ask("GET", path, "", nil)
	require.Equal(t, http.StatusNotFound, answer.Code, "before anything was sent")
	require.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"))
}

// A part of the failures is not taken for all of them.
func TestFailuresThatBreakOff(t *testing.T) {
	t.Parallel()
	d := &desk{err: &wire.Error{Code: wire.Unavailable}}
	for range 1000 {
		d.failures = append(d.failures, dispatch.Failure{Item: dispatch.Item{ID: "a", Payload: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)}})
	}
	f := openFront(t, Options{Dispatches: apidispatches.Options{Dispatches: d, Controls: d, Failures: d}})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.addr+"/v1/dispatches/reminder/tonight/failures", nil)
	require.NoError(t, err)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	read, err := io.ReadAll(answer.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotEmpty(t, read)
}

func TestADispatchIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := dispatch.View{Status: dispatch.Running}
		done := dispatch.View{Status: dispatch.Done}
		d := &desk{views: []dispatch.View{running, running, done}}
		began := time.Now()
		answer := d.ask("GET", "/v1/dispatches/reminder/tonight/events", "", nil)
		require.Equal(t, 2*time.Second, time.Since(began), "one a second")
		require.Equal(t, "text/event-stream", answer.Header().Get("Content-Type"))
		var kinds []string
		for line := range strings.Lines(answer.Body.String()) {
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				kinds = append(kinds, strings.TrimSpace(kind))
			}
		}
		require.Equal(t, []string{"progress", "progress", "end"}, kinds)
	})
	d := &desk{err: &wire.Error{Code: wire.Unavailable}}
	require.Equal(t, http.StatusServiceUnavailable, d.ask("GET", "/v1/dispatches/reminder/tonight/events", "", nil).Code)
}

// A server that stops does not wait for those who follow.
func TestAServerThatStopsEndsItsStreams(t *testing.T) {
	t.Parallel()
	d := &desk{}
	f := openFront(t, Options{Dispatches: apidispatches.Options{Dispatches: d, Controls: d, Failures: d}})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.addr+"/v1/dispatches/reminder/tonight/events", nil)
	require.NoError(t, err)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	f.stop()
	_, err = io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
}

// An order, and a new rate, that ask for more than the workers have shown are answered with
// the rate that is to be expected; a get is not.
func TestTheRateThatIsToBeExpected(t *testing.T) {
	t.Parallel()
	d := &desk{views: []dispatch.View{{Status: dispatch.Running, PerSecond: 9000, Expected: 812.7}}}
	server := New(Options{
		Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
		Dispatches: apidispatches.Options{Dispatches: d, Controls: d, Failures: d},
		Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.Anyone()},
	})
	for call, body := range map[string]string{
		"POST /v1/dispatches":      `{"business_type":"a","business_id":"b","per_second":9000,"items":[{"id":"u-1"}],"callback":{"url":"https://orders.example.com/"}}`,
		"PATCH /v1/dispatches/a/b": `{"per_second":9000}`,
		"GET /v1/dispatches/a/b":   "",
	} {
		method, path, _ := strings.Cut(call, " ")
		request, answer := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
		request.Host = "localhost"
		request.Header.Set("Content-Type", "application/json")
		server.Handler().ServeHTTP(answer, request)
		require.Less(t, answer.Code, 300, "%s: %s", call, answer.Body)
		want := "812"
		if method == http.MethodGet {
			want = ""
		}
		require.Equal(t, want, answer.Header().Get(dispatch.HeaderExpectedRate), call)
		require.Contains(t, answer.Body.String(), `"expected_per_second":812.7`)
	}
}

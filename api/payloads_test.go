package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/histories"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

const secretWords = "card 4711 was declined"

// telltale are timers, attempts, occurrences and items whose receivers said something.
type (
	telltale       struct{ apitimers.Timers }
	toldSeries     struct{ apitimers.Series }
	toldDispatches struct{}
	toldAttempts   struct{}
)

func said(businessType string) timer.View {
	failure := delivery.Answer{Class: delivery.Nacked, Detail: secretWords}.Failure(1)
	return timer.View{
		Key: wire.Key{BusinessType: businessType, BusinessID: "1"}, LastFailure: failure,
		LastOccurrence: &timer.Past{Outcome: timer.Outcome{LastFailure: failure}}, PayloadSHA256: "digest of " + businessType,
	}
}

func (telltale) Get(_ context.Context, key wire.Key) (timer.View, error) {
	view := said(key.BusinessType)
	if sent, ok := payloads[key.BusinessID]; ok {
		view.PayloadSHA256 = ""
		view.ShowCall(timer.Spec{ContentType: sent.ContentType}, sent.Data, policy.Policy{})
	}
	return view, nil
}

func (telltale) Add(_ context.Context, r bookings.Request) (timer.View, bool, error) {
	view := said(r.Key.BusinessType)
	return view, false, &wire.Error{Code: wire.AlreadyExists, Message: "It is there.", State: &view}
}

func (telltale) Cancel(_ context.Context, target bookings.Target) (timer.View, bookings.Effect, error) {
	view := said(target.Key.BusinessType)
	return view, "", &wire.Error{Code: wire.AlreadyFinished, Message: "It is over.", State: &view}
}

func (telltale) List(context.Context, timers.PageRequest) (timers.Page, error) {
	return timers.Page{Timers: []timer.View{said("order"), said("invoice")}}, nil
}

func (toldSeries) Occurrences(context.Context, wire.Key, int, []byte) (timers.Occurrences, error) {
	return timers.Occurrences{Past: []timer.Past{*said("order").LastOccurrence}}, nil
}

func (toldDispatches) Failures(_ context.Context, _ wire.Key, see func(dispatch.Failure) error) error {
	return see(dispatch.Failure{WebhookID: "msg_1", Item: dispatch.Item{
		ID: "i", Payload: json.RawMessage(`"` + secretWords + `"`), Attempts: 1,
		Failure: delivery.Answer{Class: delivery.Answered, Detail: delivery.RefusedItem + secretWords}.Failure(1),
	}})
}

func (toldDispatches) RetryFailures(context.Context, wire.Key) (view dispatch.View, retried int, err error) {
	return view, 0, nil
}

func (toldAttempts) List(context.Context, wire.Key, int, []byte) (histories.AttemptsPage, error) {
	return histories.AttemptsPage{Attempts: []delivery.ShownAttempt{{
		Attempt: delivery.Attempt{Number: 1, Answer: secretWords}, WebhookID: "msg_1", BodySHA256: strings.Repeat("0", 64), RunID: "r",
	}}}, nil
}

// toldTo is the answer to a caller with the key secret.
func toldTo(authenticator *auth.Authenticator, method, path, body string) *httptest.ResponseRecorder {
	server := New(Options{
		Timers:     apitimers.Options{Timers: telltale{}, Series: toldSeries{}, Attempts: toldAttempts{}, Failures: silent{}},
		Dispatches: dispatches.Options{Failures: toldDispatches{}},
		Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: authenticator},
	})
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer secret")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, request)
	return answer
}

// Who has not the right sees neither payloads nor what receivers said, wherever they stand, and
// is told so.
func TestPayloadsAreARightOfTheirOwn(t *testing.T) {
	t.Parallel()
	booking := `{"business_type":"order","business_id":"1","delay":"1h"}`
	for _, c := range []struct{ method, path, body, says string }{
		{"GET", "/v1/timers/order/1", "", "(left out)"},
		{"GET", "/v1/timers?business_type=order", "", "(left out)"},
		{"GET", "/v1/timers/order/1/attempts", "", `"left_out":["body_sha256","answer"]`},
		{"GET", "/v1/timers/order/1/occurrences", "", "(left out)"},
		{"GET", "/v1/dispatches/order/1/failures", "", `"left_out":["payload"]`},
		{"POST", "/v1/timers", booking, "(left out)"},
		{"POST", "/v1/timers/batch", `{"timers":[` + booking + `]}`, "(left out)"},
		{"DELETE", "/v1/timers/order/1", "", "(left out)"},
	} {
		for rights, shown := range map[string]bool{
			"": true, ":operator:order": true, ":admin+no-payloads": false, ":operator+no-payloads:order": false, ":viewer:order": false, ":viewer+payloads:ord*": true,
		} {
			if strings.HasPrefix(rights, ":viewer") && c.method != http.MethodGet {
				continue
			}
			answer := toldTo(authOf(t, "shop", rights), c.method, c.path, c.body)
			name := c.method + " " + c.path + " " + rights
			require.NotContains(t, []int{http.StatusForbidden, http.StatusInternalServerError}, answer.Code, "%s: %s", name, answer.Body)
			require.Equal(t, shown, strings.Contains(answer.Body.String(), secretWords), "%s: %s", name, answer.Body)
			require.False(t, !shown && strings.Contains(answer.Body.String(), "digest of"), "%s: %s", name, answer.Body)
			require.Equal(t, !shown, answer.Header().Get("Wakecall-Payloads") == "left-out", name)
			require.Equal(t, !shown, strings.Contains(answer.Body.String(), c.says), "%s: %s", name, answer.Body)
		}
	}
}

// Of a list of several types each is judged by itself.
func TestPayloadsOfSomeTypesOnly(t *testing.T) {
	t.Parallel()
	all, order := auth.Grant{Role: auth.Viewer, Types: []string{"*"}}, auth.Grant{Role: auth.Viewer, Payloads: true, Types: []string{"order"}}
	answer := toldTo(auth.New([]auth.Key{{
		SHA256: sha256.Sum256([]byte("secret")), Principal: auth.Principal{Name: "shop", By: auth.ByKey, Grants: []auth.Grant{all, order}},
	}}), http.MethodGet, "/v1/timers", "")
	require.Contains(t, answer.Body.String(), "digest of order")
	require.NotContains(t, answer.Body.String(), "digest of invoice")
	require.Regexp(t, `"order".*`+secretWords+`.*"invoice".*"message":"nacked: \(left out\)"`, answer.Body.String())
	require.Equal(t, 2, strings.Count(answer.Body.String(), secretWords), "of order, with its last occurrence")
}

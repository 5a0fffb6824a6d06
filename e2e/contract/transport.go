package contract

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/wakecall/wakecall/api/contract"
)

// patience is longer than the longest answer, a wait of 30 seconds.
const patience = time.Minute

// Calls returns a client that checks every call it makes against the OpenAPI document.
func Calls(t testing.TB) *http.Client {
	return &http.Client{
		Timeout: patience, Transport: transport{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type transport struct{ t testing.TB }

// RoundTrip makes a call, and reads its whole answer.
func (h transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	contract.Hold(h.t, contract.Exchange{Request: request, Status: response.StatusCode, Header: response.Header, Body: body})
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

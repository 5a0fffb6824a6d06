package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// api is a client of Wakecall's HTTP API.
type api struct {
	url, key string
	client   *http.Client
}

// answerTimeout is above that of the longest batch.
const answerTimeout = 2 * time.Minute

func newAPI(at address) api {
	transport := &http.Transport{MaxIdleConns: 2 * jobs, MaxIdleConnsPerHost: 2 * jobs}
	return api{url: at.api, key: at.key, client: &http.Client{Timeout: answerTimeout, Transport: transport}}
}

type answer struct {
	status int
	body   []byte
}

// refusal is an answer that is not a success.
type refusal struct {
	answer
	call string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %d %s", r.call, r.status, r.body) }

// do makes a call. Every answer but a success is an error.
func (a api) do(ctx context.Context, method, path string, body any) (answer, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if a.key != "" {
		request.Header.Set("Authorization", "Bearer "+a.key)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	got := answer{status: response.StatusCode}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		return answer{}, err
	}
	if got.status/100 != 2 {
		return got, &refusal{answer: got, call: method + " " + path}
	}
	return got, nil
}

// effect reads what became of a change.
func effect(got answer, err error) (Answer, error) {
	switch {
	case got.status == http.StatusConflict:
		return TooLate, nil
	case err != nil:
		return "", err
	case got.status == http.StatusAccepted:
		return Pending, nil
	default:
		return Done, nil
	}
}

// unsupported tells a field that this version does not know from a fault.
func unsupported(err error) error {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return err
	}
	var problem struct {
		Errors []struct {
			Pointer string `json:"pointer"`
			Code    string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(refused.body, &problem) != nil {
		return err
	}
	for _, fault := range problem.Errors {
		if fault.Code == "unknown-field" {
			return fmt.Errorf("%w by this version: %s", ErrUnsupported, fault.Pointer)
		}
	}
	return err
}

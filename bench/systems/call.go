package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/bench/receiver"
)

// caller is the plain HTTP client that a user of a job queue would put into a worker: one
// for all jobs, with a timeout, and with connections for all of them.
type caller struct {
	url    string
	client *http.Client
}

const (
	callTimeout = 10 * time.Second
	// jobs is how many callbacks a subject makes at once, if that must be configured.
	jobs = 100
)

func newCaller(url string) *caller {
	transport := &http.Transport{MaxIdleConns: 2 * jobs, MaxIdleConnsPerHost: 2 * jobs}
	return &caller{url: url, client: &http.Client{Timeout: callTimeout, Transport: transport}}
}

// call tells the receiver that a timer rings. A zero due time is not sent.
func (c *caller) call(ctx context.Context, id string, due time.Time) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(payload(id)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if !due.IsZero() {
		request.Header.Set(receiver.DueHeader, due.Format(time.RFC3339Nano))
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %s", response.Status)
	}
	return nil
}

// payload is the body of every callback.
func payload(id string) []byte {
	body, _ := json.Marshal(map[string]string{"id": id}) // strings always can
	return body
}

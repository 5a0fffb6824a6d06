package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	callTimeout = 10 * time.Second
	// jobs is how many callbacks a peer makes at once, if that must be configured. It is that
	// of the other subjects.
	jobs = 100
	// clients is how many timers of a batch a peer without batches books at once. It is that
	// of the other subjects.
	clients = 32
)

// caller calls the receiver as the workers of the other subjects do: one client, with
// connections for all callbacks.
type caller struct {
	url    string
	client *http.Client
}

func newCaller(url string) *caller {
	transport := &http.Transport{MaxIdleConns: 2 * jobs, MaxIdleConnsPerHost: 2 * jobs}
	return &caller{url: url, client: &http.Client{Timeout: callTimeout, Transport: transport}}
}

// ring tells the receiver that a timer is due.
func (c *caller) ring(ctx context.Context, id string) error {
	body, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
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

func (c *caller) close() { c.client.CloseIdleConnections() }

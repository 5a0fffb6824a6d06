package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// silence is the error of a call or connection over which Wakecall sent nothing, and took nothing,
// for so long. A process that stands still keeps its connections open.
type silence time.Duration

func (s silence) Error() string { return "Wakecall was silent for " + time.Duration(s).String() }

// patience ends a call or connection with a [silence], unless it is heard from in time.
type patience struct {
	limit time.Duration
	timer *time.Timer
}

// listening returns a context that ends after a silence. The caller calls cancel.
func listening(ctx context.Context, limit time.Duration) (within context.Context, p patience, cancel func()) {
	within, end := context.WithCancelCause(ctx)
	p = patience{limit, time.AfterFunc(limit, func() { end(silence(limit)) })}
	return within, p, func() {
		p.rest()
		end(nil)
	}
}

// await begins the wait for Wakecall anew.
func (p patience) await() { p.timer.Reset(p.limit) }

// rest ends the wait while Wakecall waits for this side.
func (p patience) rest() { p.timer.Stop() }

// brokenBy returns the silence that ended a context, and else err.
func brokenBy(ctx context.Context, err error) error {
	if silent, ok := errors.AsType[silence](context.Cause(ctx)); ok {
		return silent
	}
	return err
}

// sent is a body that is sent. The time of its source does not count.
type sent struct {
	io.Reader
	patience patience
}

func (s sent) Read(p []byte) (int, error) {
	s.patience.rest()
	defer s.patience.await()
	return s.Reader.Read(p)
}

// received is a body that is read. The time between two reads does not count.
type received struct {
	io.ReadCloser
	within   context.Context
	patience patience
	cancel   func()
}

func (r *received) Read(p []byte) (int, error) {
	r.patience.await()
	defer r.patience.rest()
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = brokenBy(r.within, err)
	}
	return n, err
}

func (r *received) Close() error {
	r.cancel()
	return r.ReadCloser.Close()
}

// sending makes a call with a body.
type sending func(ctx context.Context, body io.Reader) (*http.Response, error)

// patiently makes a call of any length that ends after a silence of [DefaultTimeout].
func patiently(ctx context.Context, body io.Reader, send sending) (*http.Response, error) {
	within, p, cancel := listening(ctx, DefaultTimeout)
	if body != http.NoBody {
		body = sent{body, p}
	}
	response, err := send(within, body)
	if err != nil {
		err = brokenBy(within, err)
		cancel()
		return nil, err
	}
	p.rest()
	response.Body = &received{response.Body, within, p, cancel}
	return response, nil
}

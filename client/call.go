package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// maxAnswer is above the largest answer, a batch of 1,000 problems.
const maxAnswer = 64 << 20

// call is one call of the API.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	// body is encoded as JSON; nil for none.
	body any
	// once reports whether the call must not be repeated if it may have taken effect.
	once bool
	// gone reports whether the call aims at absence. After a try that may have taken effect, a
	// 404 means that it has.
	gone bool
}

// caller makes calls.
type caller struct{ Options }

// do makes a call and decodes the answer into result, unless that is nil. It repeats the call if
// that is safe and useful.
func (c *caller) do(ctx context.Context, call call, result any) (status int, err error) {
	var body []byte
	if call.body != nil {
		if body, err = newEncoder().encode(call.body); err != nil {
			return 0, err
		}
	}
	for try, unknown := 1, false; ; try++ {
		status, err = c.try(ctx, call, body, result)
		if problem, ok := errors.AsType[*Problem](err); ok && unknown && call.gone && problem.Code() == wire.NotFound {
			return status, nil
		}
		if err == nil || try >= c.Tries || !repeatable(err, call.once) {
			return status, err
		}
		unknown = unknown || !repeatable(err, true)
		if err := sleep(ctx, pause(try, err)); err != nil {
			return 0, err
		}
	}
}

func (c *caller) try(ctx context.Context, call call, body []byte, result any) (status int, err error) {
	response, err := c.send(ctx, c.HTTP, call, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	return read(response, result)
}

// stream makes a call once, with a body or an answer of any length. It ends with ctx, or with a
// [silence].
func (c *caller) stream(ctx context.Context, call call, body io.Reader) (*http.Response, error) {
	endless := *c.HTTP
	endless.Timeout = 0
	response, err := patiently(ctx, body, func(ctx context.Context, body io.Reader) (*http.Response, error) {
		return c.send(ctx, &endless, call, body)
	})
	if err != nil || response.StatusCode/100 == 2 {
		return response, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = read(response, nil)
	return nil, err
}

func (c *caller) send(ctx context.Context, by *http.Client, call call, body io.Reader) (*http.Response, error) {
	target := c.URL + call.path
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.method, target, body)
	if err != nil {
		return nil, err
	}
	if call.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range call.header {
		request.Header[name] = values
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return by.Do(request)
}

// errCutOff means that the answer is incomplete and so unusable.
var errCutOff = errors.New("the answer broke off")

// read decodes a whole answer into result, unless that is nil.
func read(response *http.Response, result any) (status int, err error) {
	status = response.StatusCode
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return status, fmt.Errorf("%w: %w", errCutOff, err)
	}
	if status/100 != 2 {
		return status, problemIn(response, answer)
	}
	if result == nil || len(answer) == 0 {
		return status, nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return status, fmt.Errorf("the answer is not from Wakecall: %w", err)
	}
	return status, nil
}

// linesOf reads an answer of one JSON value a line, of any length. It ends with the first error.
func linesOf[T any](ctx context.Context, c *caller, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		response, err := c.stream(ctx, call{method: http.MethodGet, path: path}, http.NoBody)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		for lines := json.NewDecoder(response.Body); ; {
			var line T
			if err := lines.Decode(&line); errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// repeatable reports whether a failed call may be repeated. It was refused for now, was never
// sent, or is idempotent.
func repeatable(err error, once bool) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status == http.StatusTooManyRequests || (!once && problem.passing())
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isUntrusted(err) {
		return false
	}
	op, isOp := errors.AsType[*net.OpError](err)
	_, isURL := errors.AsType[*url.Error](err)
	if once {
		return isOp && op.Op == "dial"
	}
	return isOp || isURL || isSilence(err) || errors.Is(err, errCutOff)
}

// isUntrusted reports whether the certificate of a server is not accepted, or the server speaks no
// TLS. Nothing was sent, and another try would meet the same server.
func isUntrusted(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return unverified || plain || errors.Is(err, http.ErrSchemeMismatch)
}

func isSilence(err error) bool {
	_, silent := errors.AsType[silence](err)
	return silent
}

// Unavailable reports whether an error means that Wakecall could not be reached, or asks for a
// later call. The same call may succeed then. A server whose certificate is not accepted is no
// such case.
func Unavailable(err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status == http.StatusTooManyRequests || problem.Status >= http.StatusInternalServerError
	}
	if isUntrusted(err) {
		return false
	}
	broken := errors.Is(err, errCutOff) || errors.Is(err, errBrokenOff) || errors.Is(err, io.ErrUnexpectedEOF)
	return broken || isSilence(err) || ofTheNetwork(err)
}

// ofTheNetwork reports whether an error, such as a *url.Error, comes from a network call. A
// system error number is a net.Error too, even for a missing file.
func ofTheNetwork(err error) bool {
	found, ok := errors.AsType[net.Error](err)
	if !ok {
		return false
	}
	_, file := found.(syscall.Errno)
	op, isOp := found.(*net.OpError)
	return !file && (!isOp || op.Op != "listen")
}

// passing reports whether another try may settle the unknown outcome of a call. A proxy answers
// so for a gateway that restarts.
func (p *Problem) passing() bool {
	switch p.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

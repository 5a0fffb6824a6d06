package listen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	httpsend "github.com/wakecall/wakecall/activities/send/http"
	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// forwarder calls a local server. Without a URL it acknowledges every ring.
type forwarder struct {
	url  string
	http *http.Client
}

var errForward = errors.New("--forward must be a URL such as http://127.0.0.1:3000/hooks")

func newForwarder(to string) (*forwarder, error) {
	if u, err := url.Parse(to); to != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, errForward
	}
	return &forwarder{url: to, http: &http.Client{
		Timeout:       delivery.MaxAttemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// longestShown is how much of a body a line shows, in bytes.
const longestShown = 200

// ring passes a ring on, prints the outcome, and answers it by the callback's answer.
func (l *listener) ring(ctx context.Context, ring client.Ring) error {
	name := ring.Header.Get(send.HeaderBusinessType) + "/" + ring.Header.Get(send.HeaderBusinessID) +
		", attempt " + ring.Header.Get(send.HeaderAttempt)
	if l.forward.url == "" {
		l.print("%s: %s", name, brief(ring.Body))
		return nil
	}
	began := time.Now()
	answer, err := l.forward.call(ctx, ring)
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case err != nil:
		l.print("%s: %v in %s", name, err, took)
		return err
	case answer.Delivered:
		l.print("%s: HTTP %d in %s", name, answer.Status, took)
	default:
		l.print("%s: %s in %s", name, answer.Describe(), took)
		err = &client.Nack{Reason: answer.Describe(), Delay: answer.RetryAfter, NoRetry: answer.NoRetry}
	}
	if answer.Stop {
		err = client.Stop(err)
	}
	return err
}

// call makes the callback for a ring.
func (f *forwarder) call(ctx context.Context, ring client.Ring) (delivery.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(ring.Body))
	if err != nil {
		return delivery.Answer{}, err
	}
	request.Header = ring.Header.Clone()
	request.Header.Set("Accept-Encoding", "identity") // as in a callback
	response, err := f.http.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return delivery.Answer{}, fmt.Errorf("no answer: %w", err)
	}
	_ = response.Body.Close()
	return httpsend.AnswerOf(response.StatusCode, response.Header, time.Now()), nil
}

func brief(body []byte) string {
	text := wire.Excerpt(string(body))
	if len(text) > longestShown {
		text = strings.ToValidUTF8(text[:longestShown], "") + "…"
	}
	if text == "" {
		return "no body"
	}
	return text
}

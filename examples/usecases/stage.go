package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// secret signs the callbacks of the examples. A real one is kept secret.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// stage is a use case's environment: a Wakecall, a business type and a receiver.
type stage struct {
	wakecall *client.Client
	name     string
	takes    time.Duration
	out      io.Writer

	businessType string
	url          string // of the receiver
	longest      time.Duration
	began        time.Time
	// calls are the callbacks. The use case answers each.
	calls chan call
}

// call is a callback with a valid signature.
type call struct {
	id, occurrence string
	body           []byte
	answer         chan<- answer
}

// answer is a receiver's answer: a status, 200 if it is 0, and whether a recurring timer
// must end.
type answer struct {
	status int
	stop   bool
}

// perform plays a use case with its own receiver.
func perform(ctx context.Context, s *stage, play func(context.Context, *stage) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	verifier, err := webhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.calls, s.began, s.businessType = make(chan call), time.Now(), "example."+s.name
	s.url = "http://" + listener.Addr().String()
	server := &http.Server{Handler: s.receiver(ctx, verifier), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	policy := map[string]any{"signing_secrets": []string{secret}, "reuse": "after_end"}
	if _, err := s.wakecall.Policies.Put(ctx, s.businessType, policy, 0); err != nil {
		return err
	}
	return play(ctx, s)
}

// receiver hands each callback to the use case, once its signature is verified.
func (s *stage) receiver(ctx context.Context, verifier *webhooks.Webhook) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || verifier.Verify(body, r.Header) != nil {
			http.Error(w, "the signature is wrong", http.StatusUnauthorized)
			return
		}
		answered := make(chan answer, 1)
		select {
		case s.calls <- call{r.Header.Get("Wakecall-Business-Id"), r.Header.Get("Wakecall-Occurrence"), body, answered}:
		case <-ctx.Done():
			return
		}
		select {
		case a := <-answered:
			if a.stop {
				w.Header().Set("Wakecall-Stop", "true")
			}
			w.WriteHeader(cmp.Or(a.status, http.StatusOK))
		case <-ctx.Done():
		}
	})
}

// next waits for the next callback. The use case answers it.
func (s *stage) next(ctx context.Context) (call, error) {
	select {
	case c := <-s.calls:
		return c, nil
	case <-time.After(3*s.played(s.longest) + time.Minute):
		return call{}, fmt.Errorf("no callback came")
	case <-ctx.Done():
		return call{}, ctx.Err()
	}
}

// slowly plays for at least four seconds: the use case's actions take a moment too.
func (s *stage) slowly() {
	if s.takes != 0 {
		s.takes = max(s.takes, 4*time.Second)
	}
}

// played is the length of a use case's time in this program.
func (s *stage) played(d time.Duration) time.Duration {
	if s.takes == 0 || s.longest == 0 {
		return d
	}
	return time.Duration(float64(d) * float64(s.takes) / float64(s.longest)).Round(time.Millisecond)
}

// key names a timer of the use case.
func (s *stage) key(id string) wire.Key {
	return wire.Key{BusinessType: s.businessType, BusinessID: id}
}

// terms are the terms of a timer that calls the receiver with a payload.
func (s *stage) terms(payload any) client.Terms {
	return client.Terms{Payload: client.JSON(payload), Callback: &delivery.Callback{Destination: delivery.HTTP(s.url)}}
}

// put books a timer, or replaces it.
func (s *stage) put(ctx context.Context, id string, terms client.Terms) error {
	_, _, err := s.wakecall.Timers.Put(ctx, client.Booking{Key: s.key(id), Terms: terms}, nil)
	return err
}

// cancel cancels a timer in any state.
func (s *stage) cancel(ctx context.Context, id string) error {
	_, _, err := s.wakecall.Timers.Cancel(ctx, s.key(id), nil)
	return err
}

func (s *stage) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "%-16s %6.1fs  %s\n", s.name, time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

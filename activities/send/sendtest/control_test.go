package sendtest_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// memory is a transport without a wire, and the receivers at its end.
type memory struct {
	mu       sync.Mutex
	received []sendtest.Received
}

func (m *memory) Send(ctx context.Context, e send.Envelope) send.Outcome {
	target, _ := url.Parse(e.Destination.URL)
	behaviour := sendtest.Behaviour(strings.TrimPrefix(target.Path, "/"))
	if ctx.Err() != nil {
		return send.Failed(delivery.Timeout)
	}
	if behaviour == sendtest.Unreachable {
		return send.Failed(delivery.ConnectFailure)
	}
	began := time.Now()
	answer := m.answer(ctx, behaviour, e)
	return send.Outcome{Answer: answer, FirstByte: began, Ended: time.Now()}
}

func (m *memory) answer(ctx context.Context, behaviour sendtest.Behaviour, e send.Envelope) delivery.Answer {
	switch behaviour {
	case sendtest.Accept:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.received = append(m.received, sendtest.Received{
			ID: e.ID, ContentType: e.ContentType, Headers: maps.Clone(e.Headers), Body: slices.Clone(e.Body),
		})
		return delivery.Answer{Delivered: true}
	case sendtest.NeverAnswer:
		<-ctx.Done()
		return delivery.Answer{Class: delivery.Timeout}
	case sendtest.Break:
		return delivery.Answer{Class: delivery.BrokenAnswer}
	case sendtest.RefuseForGood:
		return delivery.Answer{Class: delivery.Answered, Detail: "never", NoRetry: true}
	case sendtest.AskPatience:
		return delivery.Answer{Class: delivery.Answered, Detail: "later", RetryAfter: time.Second}
	default:
		return delivery.Answer{Class: delivery.Answered, Detail: "no"}
	}
}

func (m *memory) all() []sendtest.Received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.received)
}

func inMemory(spoil func(send.Transport) send.Transport) sendtest.Subject {
	m := &memory{}
	return sendtest.Subject{
		Transport: spoil(m), Received: m.all, Close: func() {},
		Destination: func(b sendtest.Behaviour) (delivery.Destination, bool) {
			return delivery.HTTP("http://receiver.example/" + url.PathEscape(string(b)) + "?token=" + sendtest.Secret), true
		},
	}
}

// spoiled is a broken transport.
type spoiled func(context.Context, send.Envelope) send.Outcome

func (s spoiled) Send(ctx context.Context, e send.Envelope) send.Outcome { return s(ctx, e) }

// before changes the envelope, and after changes the outcome.
func before(change func(*send.Envelope)) func(send.Transport) send.Transport {
	return func(good send.Transport) send.Transport {
		return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
			e.Headers = maps.Clone(e.Headers)
			change(&e)
			return good.Send(ctx, e)
		})
	}
}

func after(change func(send.Envelope, *send.Outcome)) func(send.Transport) send.Transport {
	return func(good send.Transport) send.Transport {
		return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
			outcome := good.Send(ctx, e)
			change(e, &outcome)
			return outcome
		})
	}
}

// without runs with a context that never ends, in the background of one that does.
func without(wait func(context.Context) <-chan struct{}) func(send.Transport) send.Transport {
	return func(good send.Transport) send.Transport {
		return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
			deaf, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			go func() {
				select {
				case <-wait(ctx):
					cancel()
				case <-deaf.Done():
				}
			}()
			return good.Send(deaf, e)
		})
	}
}

func afterwards(d time.Duration) func(context.Context) <-chan struct{} {
	return func(context.Context) <-chan struct{} {
		passed := make(chan struct{})
		time.AfterFunc(d, func() { close(passed) })
		return passed
	}
}

// failures is a reporter that counts.
type failures struct {
	mu  sync.Mutex
	all []string
}

func (*failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

// A correct transport passes each rule; each rule finds the transport that breaks it.
func TestEveryRuleSeesWhatBreaksIt(t *testing.T) {
	var stay chan struct{}
	broken := map[string]map[string]func(send.Transport) send.Transport{
		"delivers once": {
			"twice": func(good send.Transport) send.Transport {
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome { good.Send(ctx, e); return good.Send(ctx, e) })
			},
			"never": func(send.Transport) send.Transport {
				return spoiled(func(context.Context, send.Envelope) send.Outcome { return send.Outcome{} })
			},
			"not delivered": after(func(_ send.Envelope, o *send.Outcome) { o.Delivered = false }),
		},
		"keeps every byte": {
			"JSON anew":    before(func(e *send.Envelope) { e.Body = []byte(strings.TrimSpace(string(e.Body))) }),
			"as text":      before(func(e *send.Envelope) { e.Body = []byte(strings.ToValidUTF8(string(e.Body), "?")) }),
			"content type": before(func(e *send.Envelope) { e.ContentType = "application/octet-stream" }),
			"cut":          before(func(e *send.Envelope) { e.Body = e.Body[:min(len(e.Body), timer.MaxPayload-1)] }),
		},
		"keeps every header": {
			"signature lost": before(func(e *send.Envelope) { delete(e.Headers, send.HeaderWebhookSignature) }),
			"own lost":       before(func(e *send.Envelope) { delete(e.Headers, "X-Case") }),
			"trimmed":        before(func(e *send.Envelope) { e.Headers["X-Case"] = "a b" }),
		},
		"keeps the id over attempts": {
			"a new one": before(func(e *send.Envelope) { e.ID = fmt.Sprint(time.Now().UnixNano()) }),
		},
		"leaves the envelope alone": {
			"header": func(good send.Transport) send.Transport {
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
					e.Headers["x"] = "y"
					return good.Send(ctx, e)
				})
			},
			"body": func(good send.Transport) send.Transport {
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome { e.Body[0]++; return good.Send(ctx, e) })
			},
		},
		"tells what came of it": {
			"all is well":  after(func(_ send.Envelope, o *send.Outcome) { o.Answer = delivery.Answer{Delivered: true} }),
			"no class":     after(func(_ send.Envelope, o *send.Outcome) { o.Class = "" }),
			"own class":    after(func(_ send.Envelope, o *send.Outcome) { o.Class = "oops" }),
			"one class":    after(func(_ send.Envelope, o *send.Outcome) { o.Class = delivery.Answered }),
			"no patience":  after(func(_ send.Envelope, o *send.Outcome) { o.RetryAfter = 0 }),
			"all patience": after(func(_ send.Envelope, o *send.Outcome) { o.RetryAfter = time.Minute }),
			"tries again":  after(func(_ send.Envelope, o *send.Outcome) { o.NoRetry = false }),
		},
		"tells when": {
			"no first byte": after(func(_ send.Envelope, o *send.Outcome) { o.FirstByte = time.Time{} }),
			"no end":        after(func(_ send.Envelope, o *send.Outcome) { o.Ended = time.Time{} }),
			"always a byte": after(func(_ send.Envelope, o *send.Outcome) { o.FirstByte = o.Ended }),
		},
		"tells no secret": {
			"header": after(func(e send.Envelope, o *send.Outcome) { o.Detail = e.Headers["Authorization"] }),
			"URL":    after(func(e send.Envelope, o *send.Outcome) { o.Detail = "dial " + e.Destination.URL }),
		},
		"keeps to the timeout": {
			"longer":  without(afterwards(2 * time.Second)),
			"shorter": without(afterwards(10 * time.Millisecond)),
		},
		"ends when it is cancelled": {
			"later": without(afterwards(2 * time.Second)),
		},
		"sends nothing too late": {
			"all the same": without(afterwards(time.Second)),
		},
		"serves many at once": {
			"one at a time, and the first only": func(good send.Transport) send.Transport {
				busy := make(chan struct{}, 1)
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
					select {
					case busy <- struct{}{}:
						return good.Send(ctx, e)
					default:
						return send.Failed(delivery.ConnectFailure)
					}
				})
			},
			"mixed up": func(good send.Transport) send.Transport {
				var mu sync.Mutex
				var last []byte
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
					mu.Lock()
					e.Body, last = last, e.Body
					mu.Unlock()
					return good.Send(ctx, e)
				})
			},
		},
		"leaves nothing behind": {
			"a goroutine": func(good send.Transport) send.Transport {
				var once sync.Once
				return spoiled(func(ctx context.Context, e send.Envelope) send.Outcome {
					once.Do(func() { go func() { <-stay }() })
					return good.Send(ctx, e)
				})
			},
		},
	}
	whole := func(good send.Transport) send.Transport { return good }
	for _, rule := range sendtest.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			rule.Check(t.Context(), t, func() sendtest.Subject { return inMemory(whole) })
			require.NotEmpty(t, broken[rule.Name], "a rule without a control")
			for how, spoil := range broken[rule.Name] {
				t.Run(how, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						stay = make(chan struct{})
						defer close(stay)
						seen := &failures{}
						rule.Check(t.Context(), seen, func() sendtest.Subject { return inMemory(spoil) })
						require.NotEmpty(t, seen.all)
					})
				})
			}
		})
	}
}

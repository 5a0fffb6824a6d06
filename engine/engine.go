package engine

import (
	"context"
	"net/url"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	timerate "golang.org/x/time/rate"

	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/timer"
)

// Config is what an [Engine] needs.
type Config struct {
	Client    client.Client
	Namespace string
	// Box seals secrets before they reach Temporal.
	Box *seal.Box
	// WebUI is the base URL of Temporal's Web UI, for links; empty for none.
	WebUI string
	// PolicyTTL is how long a policy that was read is trusted.
	PolicyTTL time.Duration
	// Reach judges the addresses in URLs; nil for none.
	Reach timer.Reach
	// Limiter holds bookings to the rate of their policy.
	Limiter Limiter
}

// Engine is Wakecall's view of one Temporal namespace. It is safe for
// concurrent use.
type Engine struct {
	Config

	policies *policyCache
	stock    stocks
	bursts   *bursts
	bookings *limiter.Limiter

	// untried and retried look for lost timers.
	untried, retried *reconciler

	// leaving is done once callers shall wait for no effect any more.
	leaving context.Context
	leave   context.CancelFunc
}

// New returns an Engine on a connected client.
func New(config Config) *Engine {
	e := &Engine{Config: config, bursts: newBursts(), bookings: limiter.New(leastBookings, bookingSlowdown)}
	e.policies = newPolicyCache(config.PolicyTTL, e.readPolicy)
	looks := timerate.NewLimiter(lookedAt, 1)
	e.untried, e.retried = newReconciler(e, looks), newReconciler(e, looks)
	e.leaving, e.leave = context.WithCancel(context.Background())
	return e
}

// Leave ends the waits of all callers, now and from now on: what they asked
// for is durable, and they are told that it is pending.
func (e *Engine) Leave() { e.leave() }

// callTimeout bounds one call to Temporal, the SDK's own retries included. The
// SDK gives a single try half of it: after five seconds without a word the
// caller is told that the outcome is unknown.
const callTimeout = 10 * time.Second

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

var payloads = converter.GetDefaultDataConverter()

func (e *Engine) webUI(key timer.Key, runID string) string {
	return e.workflowUI(key.String(), runID)
}

func (e *Engine) workflowUI(workflowID, runID string) string {
	if e.WebUI == "" {
		return ""
	}
	return e.WebUI + "/namespaces/" + url.PathEscape(e.Namespace) + "/workflows/" +
		url.PathEscape(workflowID) + "/" + url.PathEscape(runID)
}

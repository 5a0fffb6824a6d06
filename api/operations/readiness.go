package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// readiness calls the probe, at most once in [tuning.ReadyTrusted]: the probe writes to Temporal.
// Callers that come meanwhile share the answer.
type readiness struct {
	probe       func(context.Context) error
	emergencies pausedList
	remark      func() string // may be nil
	// findings returns the checks of this process; may be nil.
	findings func() []health.Check
	auth     *auth.Authenticator
	probes   singleflight.Group
	// stopping is done once this process stops.
	stopping context.Context

	mu    sync.Mutex
	asked time.Time
	last  error
	// note describes what was paused at the last probe; "" for nothing.
	note string
}

var errStopping = errors.New("shutting down")

func newReadiness(options Options) *readiness {
	return &readiness{
		probe: options.Ready, emergencies: options.Paused, remark: options.Note, findings: options.Checks,
		auth: options.Auth, stopping: options.Stopping,
	}
}

// pausedList tells what is paused.
type pausedList interface {
	List(ctx context.Context) (paused []policy.Emergency, err error)
}

// check returns the last result of the probe, or a new one. All callers share one call of the probe: a caller
// that hangs up ends its own wait only.
func (r *readiness) check(ctx context.Context) error {
	if r.stopping.Err() != nil {
		return errStopping
	}
	if last, fresh := r.known(); fresh {
		return last
	}
	answer := r.probes.DoChan("", func() (any, error) { return nil, r.refresh() })
	select {
	case result := <-answer:
		return result.Err
	case <-r.stopping.Done():
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *readiness) known() (last error, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, time.Since(r.asked) < tuning.ReadyTrusted
}

func (r *readiness) refresh() error {
	if last, fresh := r.known(); fresh { // by the question that ended just now
		return last
	}
	ctx, cancel := context.WithTimeout(r.stopping, tuning.ReadyTimeout)
	defer cancel()
	err := r.probe(ctx)
	note := r.paused(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.asked, r.note = err, time.Now(), note
	return err
}

// paused describes what is paused. It is empty if that cannot be read.
func (r *readiness) paused(ctx context.Context) string {
	if r.emergencies == nil {
		return ""
	}
	paused, err := r.emergencies.List(ctx)
	if err != nil {
		return ""
	}
	return noteOf(paused)
}

// remarks returns what is paused as of the last probe, and the present remark of the process.
func (r *readiness) remarks() string {
	r.mu.Lock()
	notes := []string{r.note}
	r.mu.Unlock()
	if r.remark != nil {
		notes = append(notes, r.remark())
	}
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// noteOf describes what is paused in one line; "" for nothing. It names no business type, because
// readiness is asked without a key.
func noteOf(paused []policy.Emergency) string {
	switch {
	case len(paused) == 0:
		return ""
	case paused[0].Everything:
		return "all callbacks are paused since " + paused[0].Since.String()
	case len(paused) == 1:
		return "callbacks are paused for 1 business type"
	default:
		return fmt.Sprintf("callbacks are paused for %d business types", len(paused))
	}
}

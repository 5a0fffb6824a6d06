package worker

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/wakecall/wakecall/core/policy"
)

// retire stops the workers of types that nothing needs.
func (q *queueWorkers) retire(ctx context.Context, inForce []policy.Policy) error {
	if !q.retired.due() {
		return nil
	}
	// The registry is read first, so that any later registration counts as new.
	registered, err := q.options.Queues.Registered(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, businessType := range q.retired.nextTurn(q.unlisted(inForce)) {
		needed, err := q.needed(ctx, businessType)
		errs = append(errs, err)
		if q.retired.record(businessType, registered[businessType], needed) {
			q.dismiss(businessType)
		}
	}
	return errors.Join(errs...)
}

// unlisted returns the types with polled queues but no listed policy.
func (q *queueWorkers) unlisted(inForce []policy.Policy) []string {
	q.mu.Lock()
	types := maps.Clone(q.types)
	q.mu.Unlock()
	for _, policy := range inForce {
		delete(types, policy.BusinessType)
	}
	return slices.Collect(maps.Keys(types))
}

// needed reports whether the queue of a type may be needed.
func (q *queueWorkers) needed(ctx context.Context, businessType string) (bool, error) {
	if needed, err := q.options.Queues.Needed(ctx, businessType); needed || err != nil {
		return true, err
	}
	open, err := q.options.Queues.Outlived(ctx, businessType)
	return open || err != nil, err
}

// dismiss stops the worker of a type in the background, because it may wait for a poll.
func (q *queueWorkers) dismiss(businessType string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drains.SetPlaces(businessType, 0)
	if t := q.types[businessType]; t != nil {
		delete(q.types, businessType)
		q.stopped.Go(t.worker.Stop)
	}
}

// readRetired resumes the polls of types with unannounced attempts, and forgets unregistered
// types. It runs rarely, because it looks for losses of Temporal's visibility.
func (q *queueWorkers) readRetired(ctx context.Context) error {
	due := q.retired.dueChecks()
	if len(due) == 0 {
		return nil
	}
	registered, err := q.options.Queues.Registered(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, businessType := range due {
		needed, err := q.options.Queues.Needed(ctx, businessType)
		errs = append(errs, err)
		if _, known := registered[businessType]; needed {
			q.serveUnlisted(ctx, businessType)
		} else if err == nil && !known {
			q.retired.end(businessType)
		}
	}
	return errors.Join(errs...)
}

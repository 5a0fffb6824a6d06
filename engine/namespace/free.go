package namespace

import (
	"context"

	"github.com/wakecall/wakecall/engine/holds"
)

// notFreeing is the fault of a Temporal that does not free tasks.
const notFreeing = "Temporal cannot take a task back from a dead worker: what the worker held waits for its timeout, " +
	"and a timer stays lost if its task has lost the timeout; use a server of 1.29 to 1.32"

// freeing takes a task, frees it as a dead worker's task is freed, and takes it again.
func (t *startupCheck) freeing(ctx context.Context) (able bool, unknown error) {
	id := t.queue + ":held"
	if err := t.start(ctx, id, "", 0); err != nil {
		return false, err
	}
	if _, err := t.poll(ctx); err != nil {
		return false, err
	}
	holds := holds.New(t.kernel)
	task, _, err := holds.Find(ctx, id, t.started[0].GetRunId())
	if err != nil {
		return false, err
	}
	freed, err := holds.Free(ctx, task)
	if err != nil {
		return false, err
	}
	if !freed {
		return false, nil
	}
	_, err = t.poll(ctx)
	return true, err
}

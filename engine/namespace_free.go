package engine

import "context"

// freeing takes a task, frees it as that of a dead worker is freed, and takes it again.
func (t *trial) freeing(ctx context.Context) (wrong string, unknown error) {
	id := t.queue + ":held"
	if err := t.start(ctx, id, "", 0); err != nil {
		return "", err
	}
	if _, err := t.poll(ctx); err != nil {
		return "", err
	}
	holds := &holds{kernel: t.kernel}
	task, _, err := holds.find(ctx, id, t.started[0].GetRunId())
	if err != nil {
		return "", err
	}
	freed, err := holds.free(ctx, task)
	if err != nil {
		return "", err
	}
	if !freed {
		return "a task cannot be taken from a worker that died with it: a timer whose task has lost its timeout stays lost; use a server of 1.29 to 1.32", nil
	}
	_, err = t.poll(ctx)
	return "", err
}

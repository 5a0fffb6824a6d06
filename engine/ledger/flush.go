package ledger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// batch is what is handed to one ledger. Until Temporal has it, it is handed over again as it
// is: it may have arrived.
type batch struct {
	entry workflows.LedgerEntry
	// pending reports whether Temporal is not known to have it, and repeated whether it was
	// handed over before.
	pending, repeated bool
}

// Run hands over the counts once a minute until ctx ends, and once more then: also the ends whose
// policy cannot be read, which nothing would count afterwards.
func (c *Counter) Run(ctx context.Context, temporal client.Client, logger *slog.Logger) {
	tick := time.NewTicker(tuning.LedgerEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		c.tryToFlush(ctx, temporal, logger)
	}
	if c.judgeUnread() {
		c.tryToFlush(ctx, temporal, logger)
	}
}

func (c *Counter) tryToFlush(ctx context.Context, temporal client.Client, logger *slog.Logger) {
	if err := c.Flush(context.WithoutCancel(ctx), temporal); err != nil {
		logger.Warn("Counts were not recorded, and are handed over again later", "error", err)
	}
}

// Flush asks for the ends that are in doubt, judges those that wait, and hands over the counts. What could not be handed
// over stays for the next call. It is not called concurrently.
func (c *Counter) Flush(ctx context.Context, temporal client.Client) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.LedgerTimeout)
	defer cancel()
	failed = c.settleDoubts(ctx, temporal)
	c.judge(ctx)
	for number := range tuning.Ledgers {
		failed = errors.Join(failed, c.flush(ctx, temporal, number))
	}
	return failed
}

// flush hands over to one ledger what is still pending, and then what was counted since.
func (c *Counter) flush(ctx context.Context, temporal client.Client, number int) error {
	for repeated := true; repeated && c.fill(number); {
		repeated = c.batches[number].repeated
		if err := send(ctx, temporal, number, c.batches[number].entry); err != nil {
			c.batches[number].repeated = true
			return err
		}
		c.batches[number].pending, c.batches[number].repeated = false, false
	}
	return nil
}

// fill has the batch for a ledger hold what was counted, unless the one before is still to be
// handed over. It reports whether there is anything to hand over.
func (c *Counter) fill(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.batches[number]
	if !known {
		b = &batch{}
		c.batches[number] = b
	}
	if b.pending {
		return true
	}
	counts := map[string]slo.Counts{}
	for businessType, counted := range c.counts {
		if workflows.LedgerOf(businessType) == number {
			counts[businessType] = *counted
			delete(c.counts, businessType)
		}
	}
	if len(counts) == 0 {
		return false
	}
	stamp := workflows.LedgerStamp{Number: b.entry.Number + 1, At: wire.At(time.Now())}
	b.entry, b.pending = workflows.LedgerEntry{LedgerStamp: stamp, Sender: c.sender, Counts: counts}, true
	return true
}

func send(ctx context.Context, temporal client.Client, number int, entry workflows.LedgerEntry) error {
	id := workflows.LedgerID(number)
	_, err := temporal.SignalWithStartWorkflow(ctx, id, workflows.SignalLedger, entry, client.StartWorkflowOptions{
		ID: id, TaskQueue: workflows.TaskQueue, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary: "how punctual timers were, by business type",
	}, workflows.TypeLedger, workflows.LedgerState{})
	return err
}

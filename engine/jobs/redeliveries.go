package jobs

import (
	"cmp"
	"context"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/workflows"
)

// Redeliveries are the jobs that try failed timers again. What fails after the order
// is not part of it.
var Redeliveries = Kind[job.Redelivery]{
	JobKind: workflows.RedeliveryJob,
	Noun:    RedeliveryNoun,
	Settle: func(order job.Redelivery, now wire.Instant) job.Redelivery {
		if order.Filter.EndedTo == 0 || order.Filter.EndedTo > now {
			order.Filter.EndedTo = now
		}
		return order
	},
	For: func(ctx context.Context, order job.Redelivery) job.Redelivery {
		order.By = cmp.Or(order.By, audit.Who(ctx, order.Filter.BusinessType))
		return order
	},
	Summary: func(order job.Redelivery) string {
		if order.Filter.BusinessType == "" {
			return "redelivery of failed timers of all business types"
		}
		return "redelivery of failed timers of " + order.Filter.BusinessType
	},
}

package fields

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Lists returns the lists of all requests, by name.
func Lists() map[string]wire.List {
	lists := map[string]wire.List{}
	for _, list := range []wire.List{
		delivery.ListSteps, recurrence.ListCrons, recurrence.ListExclude, recurrence.ListAt, recurrence.ListBefore, delivery.ListHeaders,
		timer.ListLabels, policy.ListSecrets, policy.ListEmergencies, dispatch.ListItems,
	} {
		lists[list.Name] = list
	}
	return lists
}

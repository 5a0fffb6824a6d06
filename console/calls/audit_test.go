package calls

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The page of what a call was about is one click away, whatever its ids are.
func TestARecordLeadsToItsPage(t *testing.T) {
	for name, c := range map[string]struct {
		route, businessType, businessID, id string
		link                                string
	}{
		"a timer":        {Root + "timers/:type/:id", "order", "a/b?", "", "/console/timers/order/a%2Fb%3F"},
		"a booking":      {Root + "timers", "order", "1", "", "/console/timers/order/1"},
		"a dispatch":     {Root + "dispatches/:type/:id/items", "order", "a/b", "", "/console/dispatches/order/a%2Fb"},
		"a bulk job":     {Root + "bulk/:id", "order", "", "j/1", "/console/jobs/j%2F1"},
		"a policy":       {Root + "policies/:type", "order", "", "", "/console/types/order"},
		"a webhook":      {Root + "deliveries/:id", "order", "", "msg_1", ""},
		"an unknown job": {Root + "bulk/:id", "", "", "j1", ""},
	} {
		r := Record{Route: c.route}
		r.Target.BusinessType, r.Target.BusinessID, r.Target.ID = c.businessType, c.businessID, c.id
		require.Equal(t, c.link, r.Link(), name)
	}
}

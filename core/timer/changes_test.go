package timer_test

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
)

// A change is shown as the terms have it on the wire, by name, whichever encoder writes it. What may
// hold a secret is named only.
func TestChangesAreShownAsOnTheWire(t *testing.T) {
	t.Parallel()
	const text = `{"due_at": "2100-01-31T00:00:00.000Z", "timezone": "Asia/Shanghai", "delay": "5m", "expires_after": "1h", "priority": 3,
		"paused": true, "recurrence": {"cron": "0 3 * * *", "timezone": "Asia/Shanghai"}, "retry": {"steps": ["1m", "5m"]},
		"labels": {"customer": "42"}, "callback": {"url": "https://x.example/secret"}, "payload": {"data": "eA==", "content_type": "text/plain"}}`
	var terms timer.Terms
	require.NoError(t, json.Unmarshal([]byte(text), &terms))
	wire, err := json.Marshal(terms)
	require.NoError(t, err)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(wire, &members))

	changes := terms.Changes(&timer.Memo{Suspended: true})
	names := make([]string, len(changes))
	for i, change := range changes {
		names[i] = change.Field
		require.Contains(t, members, change.Field)
		switch change.Field {
		case "labels", "callback", "payload":
			require.Nil(t, change.To)
			continue
		case "paused":
			require.Equal(t, new(true), change.From)
		default:
			require.Nil(t, change.From, change.Field)
		}
		for _, marshal := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return jsonv2.Marshal(v) }} {
			shown, err := marshal(change.To)
			require.NoError(t, err)
			require.JSONEq(t, string(members[change.Field]), string(shown), change.Field)
		}
	}
	require.IsIncreasing(t, names)
	require.Len(t, names, len(members))
	require.Empty(t, new(timer.Terms).Changes(nil))
}

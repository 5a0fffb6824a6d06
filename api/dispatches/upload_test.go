package dispatches

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/unbounded"
)

// Whatever a line holds, it is refused with its number, or is an item that the core
// allows.
func FuzzItem(f *testing.F) {
	f.Add([]byte(`{"id":"a","payload":{"n": 1}}`))
	f.Add([]byte(`{"id":"a","payload":null,"x":[1e999]}`))
	f.Add([]byte("{\"\\u0069d\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		for item, err := range itemsOf(unbounded.NewLines(strings.NewReader(string(line)), limits.MaxItemLine)) {
			if err != nil {
				apitest.RequireRefusal(t, err)
				return
			}
			require.Empty(t, item.Check())
			require.True(t, len(item.Payload) == 0 || json.Valid(item.Payload))
			require.Zero(t, item.Attempts)
		}
	})
}

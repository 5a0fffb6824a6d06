package policy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

func TestPreloadIsReadInBothForms(t *testing.T) {
	for text, want := range map[string]Preload{
		`"1m"`:                        {Lead: wire.Duration(time.Minute), Window: wire.Duration(time.Minute)},
		`{"lead":"2s","window":"1m"}`: {Lead: wire.Duration(2 * time.Second), Window: wire.Duration(time.Minute)},
		`{}`:                          {},
	} {
		var read, again Preload
		require.NoError(t, json.Unmarshal([]byte(text), &read), text)
		require.Equal(t, want, read)
		written, err := json.Marshal(read)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, read, again)
	}
	for _, text := range []string{`"soon"`, `5`, `{"lead":5}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(text), &Preload{}), text)
	}
}

func TestEager(t *testing.T) {
	usual := Preload{Lead: wire.Duration(DefaultPreload), Window: wire.Duration(DefaultPreload)}
	for name, c := range map[string]struct {
		preload Preload
		wait    time.Duration
		lead    time.Duration // 0 for not at all
	}{
		"due now":              {usual, 0, DefaultPreload},
		"overdue":              {usual, -time.Hour, DefaultPreload},
		"due soon":             {usual, 20 * time.Second, 20*time.Second + eagerMargin},
		"as long as may be":    {usual, MaxPreload - eagerMargin, MaxPreload},
		"too long":             {usual, MaxPreload, 0},
		"handed out when due":  {Preload{}, time.Second, 0},
		"a short one, chosen":  {Preload{Lead: wire.Duration(time.Second), Window: wire.Duration(time.Second)}, time.Second, 0},
		"a long one is longer": {Preload{Lead: wire.Duration(40 * time.Second), Window: wire.Duration(MaxPreload)}, time.Second, 40 * time.Second},
	} {
		eager, ok := c.preload.Eager(c.wait)
		require.Equal(t, c.lead > 0, ok, name)
		if ok {
			require.Equal(t, Preload{Lead: wire.Duration(c.lead), Window: c.preload.Window}, eager, name)
		}
	}
}

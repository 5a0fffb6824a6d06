package timer

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPreloadIsReadInBothForms(t *testing.T) {
	for text, want := range map[string]Preload{
		`"1m"`:                        {Lead: Duration(time.Minute), Window: Duration(time.Minute)},
		`{"lead":"2s","window":"1m"}`: {Lead: Duration(2 * time.Second), Window: Duration(time.Minute)},
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

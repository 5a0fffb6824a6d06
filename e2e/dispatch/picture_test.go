package dispatch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded are the last measured curves, and picture shows them.
var (
	recorded = filepath.Join("testdata", "curves.json")
	picture  = filepath.Join("..", "..", "docs", "dispatch.svg")
)

// keep records curves, and draws them.
func keep(t testing.TB, curves []Curve) {
	text, err := json.MarshalIndent(curves, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(recorded), 0o755))
	require.NoError(t, os.WriteFile(recorded, append(text, '\n'), 0o644))
	require.NoError(t, os.WriteFile(picture, []byte(Picture(curves)), 0o644))
}

// The picture in the documents shows the measured curves, and they are flat.
func TestThePictureShowsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(recorded)
	require.NoError(t, err, "make dispatch records it")
	var curves []Curve
	require.NoError(t, json.Unmarshal(text, &curves))
	require.Len(t, curves, len(rates))
	drawn, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, Picture(curves), string(drawn))
	for _, c := range curves {
		require.Empty(t, c.Uneven(c.excused()...), "%g a second", c.Rate)
	}
}

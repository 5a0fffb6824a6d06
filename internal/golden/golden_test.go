package golden

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

type inner struct {
	Names map[string]string `json:"names,omitempty"`
	Steps []int             `json:"steps,omitzero"`
}

type outer struct {
	inner
	Inner  *inner  `json:"inner,omitempty"`
	Rate   float64 `json:"rate,omitzero"`
	Hidden string  `json:"-"`
}

var full = outer{Inner: &inner{Names: map[string]string{"a": "b"}, Steps: []int{1, 2}}, Rate: 0.5}

const stored = `{
  "inner": {
    "names": {
      "a": "b"
    },
    "steps": [
      1,
      2
    ]
  },
  "rate": 0.5
}`

func TestVerify(t *testing.T) {
	t.Parallel()
	require.NoError(t, Verify([]byte(stored+"\n"), full))
}

// The control: every change of a name or a value in the file is detected.
func TestATamperedFileIsSeen(t *testing.T) {
	t.Parallel()
	for _, at := range regexp.MustCompile(`[a-z]+|[0-9]`).FindAllStringIndex(stored, -1) {
		tampered := stored[:at[0]] + "9" + stored[at[0]:]
		require.Error(t, Verify([]byte(tampered), full), tampered)
	}
	require.ErrorContains(t, Verify([]byte(`{"rate":0.5,"more":1}`), full), "more")
}

func TestAFieldWithoutAValueIsNamed(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		".Rate":           outer{Inner: full.Inner},
		".Inner":          outer{Rate: 1},
		".Inner.Names":    outer{Inner: &inner{Steps: []int{1}}, Rate: 1},
		".Inner.Steps[1]": outer{Inner: &inner{Names: map[string]string{"a": "b"}, Steps: []int{1, 0}}, Rate: 1},
		".Inner.Names[a]": outer{Inner: &inner{Names: map[string]string{"a": ""}, Steps: []int{1}}, Rate: 1},
	} {
		require.ErrorContains(t, Verify([]byte(`{}`), value), want+" has no value")
	}
}

func TestAFieldMayBeHeldElsewhere(t *testing.T) {
	t.Parallel()
	bare := outer{Rate: 0.5}
	text := []byte("{\n  \"rate\": 0.5\n}")
	require.ErrorContains(t, Verify(text, bare), ".Inner has no value")
	require.NoError(t, Verify(text, bare, ".Inner"))
}

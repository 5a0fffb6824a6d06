package site

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"": nil, "  ": nil, "20": 20.0, " 1.5 ": 1.5, "1,200": 1200.0, "1,234,567.5": 1234567.5, "0": 0.0,
		"1,20": "1,20", "1,2000": "1,2000", "12,": "12,", "fast": "fast", "NaN": "NaN", "Inf": "Inf", "1e999": "1e999",
	} {
		require.Equal(t, want, NumberOrNull(text), text)
	}
}

// A field that only the form needs is not shown to people.
func TestFieldsThatSayNothingAreHidden(t *testing.T) {
	t.Parallel()
	require.Equal(t, []Field{
		{Name: "back", Value: "/console/types/order", Hidden: true},
		{Name: "etag", Value: "7", Hidden: true},
		{Name: "note", Value: "fire"},
	}, FieldsOf(url.Values{"note": {"fire"}, "etag": {"7"}, "back": {"/console/types/order"}}))
}

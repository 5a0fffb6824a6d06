package timers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/problems"
)

// One timer of a batch that cannot be read refuses itself, and no other.
func TestOneUnreadableTimerOfABatch(t *testing.T) {
	t.Parallel()
	for bad, want := range map[string]string{
		`{"payload":"\ud800"}`:               `lone surrogate, \ud800, which is half of a character, at /payload.`,
		"{\"payload\":{\"k\":\"\xc3\x28\"}}": "is not UTF-8 at /payload/k.",
		`{"delay":"1h","delay":"2h"}`:        "has a duplicate name at /delay.",
		`7`:                                  "must be one JSON object.",
	} {
		timers, err := splitBatch([]byte(`{"timers":[{"delay":"1h"},` + bad + `,{"delay":"2h"}]}`))
		require.NoError(t, err, bad)
		require.Len(t, timers, 3, bad)
		_, err = decode.Parse(timers[1])
		require.Contains(t, problems.DocumentOf(err).Detail, want)
		for _, good := range []int{0, 2} {
			_, err = decode.Parse(timers[good])
			require.NoError(t, err)
		}
	}
	for body, want := range map[string]string{
		`{"timers":[{}],"timers":[{}]}`:    "The body has a duplicate name at /timers.",
		`{"timers":[{},]}`:                 "The body is not valid JSON at /timers.",
		`{"timers":[{}]}{}`:                "The body must be one JSON object.",
		"{\"timers\":[{}],\"\xff\":1}":     "The body is not UTF-8.",
		"{\"timers\":[{}],\"a\":\"\xff\"}": "The body is not UTF-8 at /a.",
		"{\"timers\":\"\xff\"}":            "The body is not UTF-8 at /timers.",
		`{"timers":[{}],"\ud800":1}`:       `The body has a lone surrogate, \ud800, which is half of a character.`,
		`{"timers":[{}],"a":"\ud800"}`:     `The body has a lone surrogate, \ud800, which is half of a character, at /a.`,
		`{"timers":{"a":1,"a":2}}`:         "The body has a duplicate name at /timers/a.",
		"{\"timers\":[],\"a\":[\"\xff\"]}": "The body is not UTF-8 at /a/0.",
	} {
		_, err := splitBatch([]byte(body))
		require.Equal(t, want, problems.DocumentOf(err).Detail, body)
		require.Equal(t, 400, problems.DocumentOf(err).Status, body)
		_, other := decode.Parse([]byte(body))
		require.Equal(t, 400, problems.DocumentOf(other).Status, "as elsewhere: %s", body)
	}
	for body, want := range map[string][]string{ // the control
		`{"timers":[{}],"a":1}`: {"/a"}, `{"timers":{}}`: {"/timers"}, `{"timers":[]}`: {"/timers"}, `{}`: {"/timers"},
	} {
		_, err := splitBatch([]byte(body))
		require.Equal(t, want, apitest.Pointers(t, err), body)
	}
}

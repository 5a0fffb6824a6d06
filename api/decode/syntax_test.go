package decode

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
)

// What keeps a body from being read is said, and where.
func TestFaultsOfABodyAreNamed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"payload":{"a":["\ud800"]}}`:            `The body has a lone surrogate, \ud800, which is half of a character, at /payload/a/0.`,
		`{"payload":"x\uDFFF"}`:                   `The body has a lone surrogate, \uDFFF, which is half of a character, at /payload.`,
		`{"payload":"\ud83d\u0041"}`:              `The body has a lone surrogate, \ud83d, which is half of a character, at /payload.`,
		`{"payload":{"\ud800":1}}`:                `The body has a lone surrogate, \ud800, which is half of a character, at /payload.`,
		`{"\ud800":1}`:                            `The body has a lone surrogate, \ud800, which is half of a character.`,
		"{\"payload\":\"\xff\"}":                  "The body is not UTF-8 at /payload.",
		"{\"payload\":\"\xed\xa0\x80\"}":          "The body is not UTF-8 at /payload.",
		`{"payload":"\q"}`:                        "The body is not valid JSON at /payload.",
		`{"payload":{"a":1,"b":{"a":2},"a":3}}`:   "The body has a duplicate name at /payload/a.",
		`{"payload":[{"a":1},{"a":1,"\u0061":2}]`: "The body has a duplicate name at /payload/1/a.",
		`{"a":1,"a":2`:                            "The body has a duplicate name at /a.",
		`{"a":1,}`:                                "The body is not valid JSON.",
		`{"a":1} {}`:                              "The body must be one JSON object.",
		`{"a":1}x`:                                "The body is not valid JSON.",
		`[]`:                                      "The body must be one JSON object.",
		``:                                        "The body must be one JSON object.",
		` `:                                       "The body must be one JSON object.",
		`null`:                                    "The body must be one JSON object.",
	} {
		_, err := Parse([]byte(body))
		require.Equal(t, want, problems.DocumentOf(err).Detail, body)
		require.Equal(t, 400, problems.DocumentOf(err).Status, body)
	}
	for _, body := range []string{`{}`, ` {"a":"\ud83d\ude00"} `, `{"":{"":{"":1}}}`, `{"a":{"b":1},"b":{"b":1}}`} {
		_, err := Parse([]byte(body))
		require.NoError(t, err, body)
	}
}

// A text is refused exactly where the library's own reading, which builds a table of
// names, refuses it.
func FuzzSyntax(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"\u0061":2}`, `{"a":{"b":[{"c":1},{"c":2}]},"b":{}}`, "{\"\xff\":\"\\ud800\"}", `{"a":"\ud83d\ude00"}`, `{"a":1}{}`, `[[{"":{"":0,"":1}}]]`, `"x"`, ``, ` `, `{"a":1,"a"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := checkSyntax(text)
		if err != nil {
			apitest.RequireRefusal(t, err)
		}
		strict := json.Unmarshal(text, new(jsontext.Value))
		if !IsDeep(text, wire.MaxNesting) {
			require.Equal(t, strict == nil, err == nil, "%v and %v", strict, err)
		}
		if err != nil {
			return
		}
		members, more, err := membersOf(text, limits.MaxMembers)
		require.NoError(t, err)
		if jsontext.Value(bytes.TrimSpace(text)).Kind() == '{' && !more {
			var want map[string]jsontext.Value
			require.NoError(t, json.Unmarshal(text, &want))
			require.Equal(t, want, map[string]jsontext.Value(members))
		}
	})
}

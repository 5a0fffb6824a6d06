package apply

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func lookup(name string) (string, bool) {
	value, ok := map[string]string{"HOST": "orders.example", "KEY": "s3cret: #1", "DIGITS": "123", "EMPTY": ""}[name]
	return value, ok
}

func TestRead(t *testing.T) {
	t.Parallel()
	policies, err := read([]byte(`
policies:
  - business_type: order-close
    callback:
      url: https://${HOST}/close
      headers:
        Authorization: Bearer ${KEY}
        X-Tenant: '${DIGITS}'
        X-Plain: ${DIGITS}
        X-None: "${EMPTY}"
        X-Literal: $${HOST}
        X-Version: 2022-11-28
        X-Since: 2022-11-28T10:00:00Z
        X-No: no
    retry: &ladder {steps: [10s, 1m], jitter: 0.2}
    limits: {callbacks_per_second: 5}
  - business_type: refund
    callback: {url: https://pay.example}
    retry: *ladder
    paused: true
`), lookup)
	require.NoError(t, err)
	require.Len(t, policies, 2)
	require.Equal(t, "order-close", policies[0].businessType)
	body, err := json.Marshal(policies[0].body)
	require.NoError(t, err)
	require.JSONEq(t, `{"business_type": "order-close", "callback": {"url": "https://orders.example/close", "headers": {
		"Authorization": "Bearer s3cret: #1", "X-Tenant": "123", "X-Plain": "123", "X-None": "", "X-Literal": "${HOST}",
		"X-Version": "2022-11-28", "X-Since": "2022-11-28T10:00:00Z", "X-No": "no"}},
		"retry": {"steps": ["10s", "1m"], "jitter": 0.2}, "limits": {"callbacks_per_second": 5}}`, string(body))
	require.Equal(t, policies[0].body["retry"], policies[1].body["retry"])
	require.Equal(t, true, policies[1].body["paused"])
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                {"empty"},
		"- a":                             {"mapping"},
		"policies:":                       {"no list"},
		"policies: {}":                    {"cannot unmarshal"},
		"policies: [a]":                   {"cannot unmarshal"},
		"policies: []\npolicies: []":      {"already defined"},
		"policies: [{a: {b: 1, b: 2}}]":   {`"b" already defined`},
		"policy: []\nversion: 1":          {"line 1: policy is not known", "line 2: version is not known"},
		"policies: []\n---\npolicies: []": {"one YAML document"},
		"policies: [":                     {"line 1"},
		"policies: [{callback: {}}, {business_type: 7}, {business_type: a}, {business_type: a}]": {
			"policies[0]: /business_type is required", "policies[1]: /business_type is required", "a: is in the file twice",
		},
		"policies: [{a: '${NOBODY}',\n b: ['${}', '${HOST}${ELSE}']}]": {
			"line 1: the environment variable NOBODY is not set", "line 2: the environment variable  is not set",
			"line 2: the environment variable ELSE is not set",
		},
	} {
		_, err := read([]byte(text), lookup)
		require.Error(t, err, text)
		for _, part := range want {
			require.ErrorContains(t, err, part, text)
		}
	}
	policies, err := read([]byte("policies: []"), lookup)
	require.NoError(t, err)
	require.Empty(t, policies)
}

// The file in docs/policies.md can be applied.
func TestDocumentedFileIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/policies.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found, "the page shows a file")
	text, _, _ := strings.Cut(rest, "```")
	policies, err := read([]byte(text), func(name string) (string, bool) { return "value of " + name, true })
	require.NoError(t, err)
	require.NotEmpty(t, policies)
	require.Contains(t, fmt.Sprint(policies[0].body), "value of ")
}

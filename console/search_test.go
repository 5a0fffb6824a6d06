package console

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSearches(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 2, 51, 7, 0, time.UTC)
	for text, want := range map[string]search{
		"":                     {},
		"o-1":                  {word: "o-1"},
		"order-close/o-1":      {word: "order-close/o-1"},
		"urn:x:1":              {word: "urn:x:1"},
		"type:a status:failed": {query: url.Values{"business_type": {"a"}, "status": {"failed"}}},
		"label:a=1 label:b=2":  {query: url.Values{"label": {"a=1", "b=2"}}},
		"label:a":              {query: url.Values{"label": {"a"}}, wrong: []string{"label:a"}},
		"type:a type:b":        {query: url.Values{"business_type": {"a"}}, wrong: []string{"type:b"}},
		"type:":                {wrong: []string{"type:"}},
		"a b":                  {word: "a", wrong: []string{"b"}},
		"due:today":            {query: url.Values{"due_from": {"2026-11-25T00:00:00.000Z"}, "due_to": {"2026-11-26T00:00:00.000Z"}}},
		"due:1h":               {query: url.Values{"due_from": {"2026-11-25T02:51:07.000Z"}, "due_to": {"2026-11-25T03:51:07.000Z"}}},
		"ended:1h":             {query: url.Values{"ended_from": {"2026-11-25T01:51:07.000Z"}, "ended_to": {"2026-11-25T02:51:07.000Z"}}},
		"due:03:00..03:10":     {query: url.Values{"due_from": {"2026-11-25T03:00:00.000Z"}, "due_to": {"2026-11-25T03:10:00.000Z"}}},
		"due:2026-11-24T03:00..2026-11-25T03:00:00+01:00": {query: url.Values{"due_from": {"2026-11-24T03:00:00.000Z"}, "due_to": {"2026-11-25T02:00:00.000Z"}}},
		"due:03:10..03:00": {wrong: []string{"due:03:10..03:00"}},
		"due:soon":         {wrong: []string{"due:soon"}},
		"due:-1h":          {wrong: []string{"due:-1h"}},
	} {
		got := parseSearch(text, now)
		if want.query == nil {
			want.query = url.Values{}
		}
		require.Equal(t, want, got, text)
	}
}

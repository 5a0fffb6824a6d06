package search

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSearches(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 2, 51, 7, 0, time.UTC)
	for text, want := range map[string]Search{
		"":                     {},
		"o-1":                  {Word: "o-1"},
		"order-close/o-1":      {Word: "order-close/o-1"},
		"urn:x:1":              {Word: "urn:x:1"},
		`"status:foo"`:         {Word: "status:foo"},
		`type:a "is:late"`:     {Query: url.Values{"business_type": {"a"}}, Word: "is:late"},
		`"a/type:b"`:           {Word: "a/type:b"},
		`"o-1"`:                {Word: "o-1"},
		`""`:                   {Wrong: []string{`""`}},
		"type:a status:failed": {Query: url.Values{"business_type": {"a"}, "status": {"failed"}}},
		"label:a=1 label:b=2":  {Query: url.Values{"label": {"a=1", "b=2"}}},
		"label:a":              {Query: url.Values{"label": {"a"}}, Wrong: []string{"label:a"}},
		"type:a type:b":        {Query: url.Values{"business_type": {"a"}}, Wrong: []string{"type:b"}},
		"type:":                {Wrong: []string{"type:"}},
		"a b":                  {Word: "a", Wrong: []string{"b"}},
		"due:today":            {Query: url.Values{"due_from": {"2026-11-25T00:00:00.000Z"}, "due_to": {"2026-11-26T00:00:00.000Z"}}},
		"due:1h":               {Query: url.Values{"due_from": {"2026-11-25T02:51:07.000Z"}, "due_to": {"2026-11-25T03:51:07.000Z"}}},
		"ended:1h":             {Query: url.Values{"ended_from": {"2026-11-25T01:51:07.000Z"}, "ended_to": {"2026-11-25T02:51:07.000Z"}}},
		"due:03:00..03:10":     {Query: url.Values{"due_from": {"2026-11-25T03:00:00.000Z"}, "due_to": {"2026-11-25T03:10:00.000Z"}}},
		"due:2026-11-24T03:00..2026-11-25T03:00:00+01:00": {Query: url.Values{"due_from": {"2026-11-24T03:00:00.000Z"}, "due_to": {"2026-11-25T02:00:00.000Z"}}},
		"due:03:10..03:10":                       {Wrong: []string{"due:03:10..03:10"}},
		"due:03:10..03:00":                       {Query: url.Values{"due_from": {"2026-11-24T03:10:00.000Z"}, "due_to": {"2026-11-25T03:00:00.000Z"}}},
		"due:23:50..02:50":                       {Query: url.Values{"due_from": {"2026-11-25T23:50:00.000Z"}, "due_to": {"2026-11-26T02:50:00.000Z"}}},
		"due:23:50..02:52":                       {Query: url.Values{"due_from": {"2026-11-24T23:50:00.000Z"}, "due_to": {"2026-11-25T02:52:00.000Z"}}},
		"due:02:00..02:10":                       {Query: url.Values{"due_from": {"2026-11-25T02:00:00.000Z"}, "due_to": {"2026-11-25T02:10:00.000Z"}}},
		"due:2026-11-25T03:10..2026-11-25T03:00": {Wrong: []string{"due:2026-11-25T03:10..2026-11-25T03:00"}},
		"due:03:00..2026-11-26T03:00":            {Query: url.Values{"due_from": {"2026-11-25T03:00:00.000Z"}, "due_to": {"2026-11-26T03:00:00.000Z"}}},
		"due:2026-11-25T23:10..03:00":            {Wrong: []string{"due:2026-11-25T23:10..03:00"}},
		"due:03:00":                              {Wrong: []string{"due:03:00"}},
		"due:3d":                                 {Query: url.Values{"due_from": {"2026-11-25T02:51:07.000Z"}, "due_to": {"2026-11-28T02:51:07.000Z"}}},
		"due:0d":                                 {Wrong: []string{"due:0d"}},
		"due:-3d":                                {Wrong: []string{"due:-3d"}},
		"due:99999d":                             {Wrong: []string{"due:99999d"}},
		"ended:3d":                               {Query: url.Values{"ended_from": {"2026-11-22T02:51:07.000Z"}, "ended_to": {"2026-11-25T02:51:07.000Z"}}},
		"ended:23:50..00:10":                     {Query: url.Values{"ended_from": {"2026-11-24T23:50:00.000Z"}, "ended_to": {"2026-11-25T00:10:00.000Z"}}},
		"ended:02:51..00:10":                     {Query: url.Values{"ended_from": {"2026-11-25T02:51:00.000Z"}, "ended_to": {"2026-11-26T00:10:00.000Z"}}},
		"ended:02:40..02:50":                     {Query: url.Values{"ended_from": {"2026-11-25T02:40:00.000Z"}, "ended_to": {"2026-11-25T02:50:00.000Z"}}},
		"ended:02:50..03:10":                     {Query: url.Values{"ended_from": {"2026-11-25T02:50:00.000Z"}, "ended_to": {"2026-11-25T03:10:00.000Z"}}},
		"ended:23:50..23:58":                     {Query: url.Values{"ended_from": {"2026-11-24T23:50:00.000Z"}, "ended_to": {"2026-11-24T23:58:00.000Z"}}},
		"ended:2026-11-26T03:00..2026-11-26T04:00": {Query: url.Values{"ended_from": {"2026-11-26T03:00:00.000Z"}, "ended_to": {"2026-11-26T04:00:00.000Z"}}},
		"due:tomorrow":                     {Query: url.Values{"due_from": {"2026-11-26T00:00:00.000Z"}, "due_to": {"2026-11-27T00:00:00.000Z"}}},
		"due:yesterday":                    {Query: url.Values{"due_from": {"2026-11-24T00:00:00.000Z"}, "due_to": {"2026-11-25T00:00:00.000Z"}}},
		"ended:today":                      {Query: url.Values{"ended_from": {"2026-11-25T00:00:00.000Z"}, "ended_to": {"2026-11-26T00:00:00.000Z"}}},
		"ended:yesterday":                  {Query: url.Values{"ended_from": {"2026-11-24T00:00:00.000Z"}, "ended_to": {"2026-11-25T00:00:00.000Z"}}},
		"due:2026-12-24":                   {Query: url.Values{"due_from": {"2026-12-24T00:00:00.000Z"}, "due_to": {"2026-12-25T00:00:00.000Z"}}},
		"due:2026-12-24..2026-12-26":       {Query: url.Values{"due_from": {"2026-12-24T00:00:00.000Z"}, "due_to": {"2026-12-27T00:00:00.000Z"}}},
		"due:2026-12-24..2026-12-24":       {Query: url.Values{"due_from": {"2026-12-24T00:00:00.000Z"}, "due_to": {"2026-12-25T00:00:00.000Z"}}},
		"due:2026-12-24T18:00..2026-12-25": {Query: url.Values{"due_from": {"2026-12-24T18:00:00.000Z"}, "due_to": {"2026-12-26T00:00:00.000Z"}}},
		"due:today..tomorrow":              {Query: url.Values{"due_from": {"2026-11-25T00:00:00.000Z"}, "due_to": {"2026-11-27T00:00:00.000Z"}}},
		"ended:yesterday..02:50":           {Query: url.Values{"ended_from": {"2026-11-24T00:00:00.000Z"}, "ended_to": {"2026-11-25T02:50:00.000Z"}}},
		"ended:today..02:50":               {Query: url.Values{"ended_from": {"2026-11-25T00:00:00.000Z"}, "ended_to": {"2026-11-25T02:50:00.000Z"}}},
		"ended:22:00..today":               {Query: url.Values{"ended_from": {"2026-11-25T22:00:00.000Z"}, "ended_to": {"2026-11-26T00:00:00.000Z"}}},
		"ended:2026-11-24":                 {Query: url.Values{"ended_from": {"2026-11-24T00:00:00.000Z"}, "ended_to": {"2026-11-25T00:00:00.000Z"}}},
		"due:2026-12-26..2026-12-24":       {Wrong: []string{"due:2026-12-26..2026-12-24"}},
		"due:2026-13-24":                   {Wrong: []string{"due:2026-13-24"}},
		"due:today..":                      {Query: url.Values{"due_from": {"2026-11-25T00:00:00.000Z"}}},
		"due:..03:10":                      {Query: url.Values{"due_to": {"2026-11-25T03:10:00.000Z"}}},
		"due:..2026-12-24":                 {Query: url.Values{"due_to": {"2026-12-25T00:00:00.000Z"}}},
		"due:03:00..":                      {Query: url.Values{"due_from": {"2026-11-25T03:00:00.000Z"}}},
		"ended:03:00..":                    {Query: url.Values{"ended_from": {"2026-11-24T03:00:00.000Z"}}},
		"ended:02:50..":                    {Query: url.Values{"ended_from": {"2026-11-25T02:50:00.000Z"}}},
		"ended:..03:00":                    {Query: url.Values{"ended_to": {"2026-11-25T03:00:00.000Z"}}},
		"due:..2026-11-24T03:00:00.000Z":   {Query: url.Values{"due_to": {"2026-11-24T03:00:00.000Z"}}},
		"due:03:00.. due:..04:00":          {Query: url.Values{"due_from": {"2026-11-25T03:00:00.000Z"}}, Wrong: []string{"due:..04:00"}},
		"due:03:00:30..03:10:00":           {Query: url.Values{"due_from": {"2026-11-25T03:00:30.000Z"}, "due_to": {"2026-11-25T03:10:00.000Z"}}},
		"ended:23:50:01..00:10":            {Query: url.Values{"ended_from": {"2026-11-24T23:50:01.000Z"}, "ended_to": {"2026-11-25T00:10:00.000Z"}}},
		"due:2026-12-24T18:00:30..":        {Query: url.Values{"due_from": {"2026-12-24T18:00:30.000Z"}}},
		`type:"a" label:"customer=42"`:     {Query: url.Values{"business_type": {"a"}, "label": {"customer=42"}}},
		`type:""`:                          {Wrong: []string{`type:""`}},
		"due:..":                           {Wrong: []string{"due:.."}},
		"due:soon..":                       {Wrong: []string{"due:soon.."}},
		"due:soon":                         {Wrong: []string{"due:soon"}},
		"due:-1h":                          {Wrong: []string{"due:-1h"}},
	} {
		got := Parse(text, now)
		if want.Query == nil {
			want.Query = url.Values{}
		}
		require.Equal(t, want, got, text)
	}
}

// The search for an id finds it, whatever it reads like.
func TestTheSearchForAnID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"o-1", "urn:x:1", "status:foo", "type:zz", "is:late", "due:", "label:a=1"} {
		require.Equal(t, Search{Query: url.Values{}, Word: id}, Parse(Exactly(id), time.Time{}), id)
	}
	require.Equal(t, "urn:x:1", Exactly("urn:x:1"), "no more quotes than it takes")
}

package audit_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

var (
	begun = time.UnixMilli(1_700_000_000_000)
	all   = audit.Query{Size: 10, Sees: func(*trail.Record) bool { return true }}
)

// called is the record of a call, so long after the process began.
func called(id string, after time.Duration, route string) *trail.Record {
	return &trail.Record{ID: id, At: wire.At(begun.Add(after)), Method: "POST", Route: route, Outcome: trail.Done, Who: &wire.Actor{Name: "ops", ID: "7"}}
}

func keep(t *testing.T, r *audit.Recent, records ...*trail.Record) {
	t.Helper()
	for _, record := range records {
		open, err := r.Begin(record)
		require.NoError(t, err)
		open.End(record)
	}
}

// Records are listed newest first, a page at a time, as far as they match and the caller sees them.
func TestRecentRecordsAreListed(t *testing.T) {
	t.Parallel()
	r := audit.NewRecent(begun)
	refused := called("c", 3*time.Second, "/v1/emergency/pause")
	refused.Outcome, refused.Target.BusinessTypes = trail.Refused, []string{"order", "invoice"}
	keep(t, r, called("a", time.Second, "/v1/timers"), refused, called("b", 2*time.Second, "/v1/bulk"), called("d", time.Second, "/v1/timers"))
	list := func(q audit.Query) (found []string, more bool) {
		page, more := r.List(q)
		require.Equal(t, wire.At(begun), page.Since)
		return ids(page.Records), more
	}
	found, more := list(all)
	require.Equal(t, []string{"c", "b", "d", "a"}, found)
	require.False(t, more)
	two := all
	two.Size = 2
	found, more = list(two)
	require.Equal(t, []string{"c", "b"}, found)
	require.True(t, more)
	two.After = &trail.Place{At: wire.At(begun.Add(2 * time.Second)), ID: "b"}
	found, more = list(two)
	require.Equal(t, []string{"d", "a"}, found)
	require.False(t, more)
	for want, filter := range map[string]trail.Filter{
		"c": {Outcome: trail.Refused}, "c ": {BusinessType: "invoice"}, "b": {Operation: "POST /v1/bulk"},
		"c b d a": {Who: "ops"}, "c b d a ": {Who: "7"}, "": {Who: "eve"},
		"c b": {From: wire.At(begun.Add(2 * time.Second))}, "d a": {To: wire.At(begun.Add(2 * time.Second))},
	} {
		q := all
		q.Filter = filter
		found, _ := list(q)
		require.Equal(t, strings.TrimSpace(want), strings.Join(found, " "), "%+v", filter)
	}
	blind := all
	blind.Sees = func(record *trail.Record) bool { return record.ID != "c" }
	found, _ = list(blind)
	require.Equal(t, []string{"b", "d", "a"}, found)
}

// The calls of programs about timers are many, and displace no other record. What was displaced is told.
func TestTimersDisplaceNoOtherRecord(t *testing.T) {
	t.Parallel()
	r := audit.NewRecent(begun)
	byPerson := called("person", 0, "/v1/timers/:type/:id")
	byPerson.Who.Via = "console"
	keep(t, r, byPerson, called("policy", 0, "/v1/policies/:type"))
	for i := range tuning.AuditTimers + 2 {
		keep(t, r, called(strconv.Itoa(i), time.Duration(i)*time.Second, "/v1/timers"))
	}
	every := all
	every.Size = tuning.AuditTimers + tuning.AuditOthers
	page, _ := r.List(every)
	require.Len(t, page.Records, tuning.AuditTimers+2)
	require.Subset(t, ids(page.Records), []string{"person", "policy", "2"})
	require.NotContains(t, ids(page.Records), "1")
	require.Equal(t, wire.At(begun), page.Since)
	require.Equal(t, wire.At(begun.Add(time.Second))+1, page.TimersSince)
}

// What is large is not kept, and what was recorded is left as it is.
func TestRecentRecordsAreBounded(t *testing.T) {
	t.Parallel()
	r := audit.NewRecent(begun)
	batch, large, small := called("batch", 0, "/v1/timers/batch"), called("large", 0, "/v1/policies/:type"), called("small", 0, "/v1/policies/:type")
	batch.Items = make([]trail.Item, 3)
	large.Changes = []timer.FieldChange{{Field: "/tls/ca", To: strings.Repeat("x", tuning.AuditValues)}}
	small.Changes = []timer.FieldChange{{Field: "/priority", To: 3}}
	keep(t, r, batch, large, small)
	page, _ := r.List(all)
	for _, record := range page.Records {
		switch record.ID {
		case "batch":
			require.Empty(t, record.Items)
			require.Equal(t, 3, record.LeftOut)
		case "large":
			require.Equal(t, []timer.FieldChange{{Field: "/tls/ca"}}, record.Changes)
		case "small":
			require.Equal(t, small.Changes, record.Changes)
		}
	}
	require.Len(t, batch.Items, 3)
	require.NotNil(t, large.Changes[0].To)
}

// A process knows what stands at the end of its file, and since when.
func TestRecentRecordsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	write := func(records ...*trail.Record) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		for _, record := range records {
			line, err := json.Marshal(record)
			require.NoError(t, err)
			_, err = file.Write(append(line, '\n'))
			require.NoError(t, err)
		}
		require.NoError(t, file.Close())
	}
	write()
	empty := audit.NewRecent(begun)
	require.NoError(t, empty.Load(path))
	page, _ := empty.List(all)
	require.Equal(t, wire.At(begun), page.Since)

	write(called("old", -time.Hour, "/v1/bulk"))
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString("{torn\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	write(called("older process", -time.Minute, "/v1/bulk"))
	r := audit.NewRecent(begun)
	require.NoError(t, r.Load(path))
	page, _ = r.List(all)
	require.Equal(t, []string{"older process", "old"}, ids(page.Records))
	require.Equal(t, wire.At(begun.Add(-time.Hour)), page.Since)

	long := called("long", -time.Second, "/v1/bulk")
	long.From = strings.Repeat("x", tuning.AuditLoaded)
	write(long, called("last", 0, "/v1/bulk"))
	r = audit.NewRecent(begun)
	require.NoError(t, r.Load(path))
	page, _ = r.List(all)
	require.Equal(t, []string{"last"}, ids(page.Records), "no more than the end of the file is read")
	require.Equal(t, wire.At(begun), page.Since)
	require.Error(t, r.Load(path+" is not there"))
}

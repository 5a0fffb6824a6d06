package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
)

var silent = slog.New(slog.DiscardHandler)

func record(id string) *trail.Record {
	return &trail.Record{ID: id, At: 1, Who: &wire.Actor{Name: "ops", By: "key"}, Method: "PATCH", Route: "/v1/x", Target: trail.Target{BusinessType: "order"}}
}

// made records a call in a log.
func made(t *testing.T, log *audit.Log, id string) {
	t.Helper()
	end, err := log.Begin(record(id))
	require.NoError(t, err)
	done := record(id)
	audit.Answer(done, http.StatusOK, "")
	end(done)
}

// read reads the records of a file, and counts torn lines.
func read(t *testing.T, path string) (records []trail.Record, torn int) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		var one trail.Record
		if json.Unmarshal(line, &one) != nil {
			torn++
			continue
		}
		records = append(records, one)
	}
	return records, torn
}

func ids(records []trail.Record) (all []string) {
	for _, one := range records {
		all = append(all, one.ID)
	}
	return all
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]trail.Outcome{
		0: trail.Unknown, 200: trail.Done, 201: trail.Done, 204: trail.Done, 202: trail.Accepted, 400: trail.Refused, 401: trail.Refused,
		409: trail.Refused, 429: trail.Refused, 500: trail.Unknown, 503: trail.Unknown,
	} {
		one := record("1")
		audit.Answer(one, status, "")
		require.Equal(t, want, one.Outcome, status)
		require.Contains(t, trail.Outcomes(), one.Outcome)
		one.Outcome = trail.Unchanged
		audit.Answer(one, status, "")
		if want == trail.Done {
			want = trail.Unchanged
		}
		require.Equal(t, want, one.Outcome, "%d, of what was so before", status)
		one.Method = http.MethodGet
		if want == trail.Unknown {
			want = trail.Refused
		}
		audit.Answer(one, status, "")
		require.Equal(t, want, one.Outcome, "%d, of a read", status)
	}
	require.Equal(t, trail.Unchanged, audit.ItemOf(wire.Key{}, http.StatusOK, "").Outcome)
	require.Equal(t, trail.Refused, audit.ItemOf(wire.Key{}, http.StatusConflict, wire.AlreadyExists).Outcome)
}

func TestWithoutALogNothingIsKept(t *testing.T) {
	t.Parallel()
	var none *audit.Log
	require.False(t, none.On())
	made(t, none, "1")
	require.NoError(t, none.Close())
}

// Many concurrent calls leave one whole line each.
func TestEachCallLeavesOneLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	log := audit.NewLog(file)
	var all sync.WaitGroup
	want := []string{}
	for i := range 500 {
		want = append(want, strconv.Itoa(i))
		all.Go(func() { made(t, log, strconv.Itoa(i)) })
	}
	all.Wait()
	require.NoError(t, log.Close())
	records, torn := read(t, path)
	require.Zero(t, torn)
	require.ElementsMatch(t, want, ids(records))
	for _, one := range records {
		require.Equal(t, trail.Done, one.Outcome)
	}
	is, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), is.Mode().Perm(), "others do not read it")
	left, err := os.ReadFile(path + ".open")
	require.NoError(t, err)
	require.Empty(t, left, "nothing is under way")
}

// Others rotate the file: they move it away, or truncate it.
func TestTheFileIsRotatedByOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	log := audit.NewLog(file)
	made(t, log, "1")
	require.NoError(t, os.Rename(path, path+".1"))
	made(t, log, "2")
	made(t, log, "3")
	require.NoError(t, os.Truncate(path, 0)) // copytruncate
	made(t, log, "4")
	require.NoError(t, os.Remove(path))
	made(t, log, "5")
	records, _ := read(t, path+".1")
	require.Equal(t, []string{"1"}, ids(records))
	records, torn := read(t, path)
	require.Equal(t, []string{"5"}, ids(records))
	require.Zero(t, torn)
	require.NoError(t, log.Close())
}

// A process that dies leaves its calls in progress. The next one records them as unknown, except
// those already recorded.
func TestACrashLeavesItsCalls(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	_, err = file.Begin(record("cut off"))
	require.NoError(t, err)
	abandoned, err := file.Begin(record("refused"))
	require.NoError(t, err)
	abandoned.Abandon()
	made(t, audit.NewLog(file), "done")
	journal, err := os.ReadFile(path + ".open")
	require.NoError(t, err)
	journal = bytes.Replace(journal, []byte(` "id":"done"`), []byte(`{"id":"done"`), 1) // it died between the record and this
	require.NoError(t, file.Close())
	require.NoError(t, os.WriteFile(path+".open", append(journal, "{torn"...), 0o600))

	again, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	records, torn := read(t, path)
	require.Zero(t, torn)
	require.ElementsMatch(t, []string{"done", "cut off"}, ids(records))
	for _, one := range records {
		require.Equal(t, one.ID == "done", one.Outcome == trail.Done)
		require.Equal(t, "ops", one.Who.Name, "who began it is known")
		require.NotEmpty(t, one.Outcome)
	}
	_, err = audit.OpenFile(path, silent)
	require.ErrorContains(t, err, "another process")
	require.NoError(t, again.Close())
}

// childFile names the variable with the file of the process of [TestKilledInTheMiddle].
const childFile = "AUDIT_CHILD_FILE"

// A process killed between a change and its record leaves both its lock and its call to the next
// one.
func TestKilledInTheMiddle(t *testing.T) {
	if path := os.Getenv(childFile); path != "" {
		file, err := audit.OpenFile(path, silent)
		require.NoError(t, err)
		made(t, audit.NewLog(file), "done")
		_, err = file.Begin(record("cut off"))
		require.NoError(t, err)
		_, _ = os.Stdout.WriteString("begun\n")
		select {} // until it is killed
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledInTheMiddle$")
	child.Env = append(os.Environ(), childFile+"="+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "begun\n", said)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	records, torn := read(t, path)
	require.Zero(t, torn)
	require.Equal(t, []string{"done", "cut off"}, ids(records))
	require.Equal(t, trail.Unknown, records[1].Outcome)
	require.NoError(t, file.Close())
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/dev/full", "/dev/null", t.TempDir(), filepath.Join(t.TempDir(), "none", "audit.log")} {
		_, err := audit.OpenFile(path, silent)
		require.Error(t, err, path)
	}
}

// A journal entry that would be too long is written without its id.
func TestLongNotes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	long := record("1")
	long.Target.BusinessID = strings.Repeat("x", 4000)
	_, err = file.Begin(long)
	require.NoError(t, err)
	long.Route = long.Target.BusinessID
	_, err = file.Begin(long)
	require.ErrorContains(t, err, "too long")
	require.NoError(t, file.Close())
}

// disk is a disk that may be full.
type disk struct {
	bytes.Buffer
	// room is the number of bytes left; below zero for no limit.
	room int
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.room < 0 {
		return d.Buffer.Write(p)
	}
	n := min(len(p), d.room)
	d.room -= n
	_, _ = d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// While a line cannot be written, no call is carried out. The line is not lost: the log has it,
// and it is written first when there is room again.
func TestNothingIsDoneThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	full := &disk{room: -1}
	log := audit.NewLog(audit.NewLines(full, slog.New(slog.NewTextHandler(&said, nil))))
	made(t, log, "1")
	full.room = 20
	made(t, log, "2") // it was in progress
	require.Contains(t, said.String(), `\"id\":\"2\"`)
	_, err := log.Begin(record("3"))
	require.ErrorIs(t, err, audit.ErrClosed)
	require.ErrorIs(t, err, errFull)
	require.ErrorIs(t, log.Close(), errFull)
	full.room = -1
	made(t, log, "4")
	require.NoError(t, log.Close())
	path := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(path, full.Bytes(), 0o600))
	records, torn := read(t, path)
	require.Equal(t, []string{"1", "2", "4"}, ids(records))
	require.Equal(t, 1, torn, "a part of a line stands by itself")
}

// mailbox accepts events, unless it is broken.
type mailbox struct {
	broken error
	got    []string
	last   []byte
}

func (m *mailbox) Ready() error { return m.broken }

func (m *mailbox) Book(id string, body []byte) error {
	var one trail.Record
	if err := json.Unmarshal(body, &one); err != nil || one.ID != id {
		return errors.New("that is no event")
	}
	m.last = body
	if m.broken == nil {
		m.got = append(m.got, id)
	}
	return m.broken
}

// Events are booked in order. While one waits, only a repair of their policy is carried out.
func TestEventsOfTheAudit(t *testing.T) {
	t.Parallel()
	box := &mailbox{}
	log := audit.NewLog(audit.NewEvents(box, "wakecall.audit", silent))
	made(t, log, "1")
	end, err := log.Begin(record("2"))
	require.NoError(t, err)
	box.broken = errors.New("down")
	end(record("2"))
	_, err = log.Begin(record("3"))
	require.ErrorIs(t, err, audit.ErrClosed)
	require.Error(t, log.Close())
	mending := record("4")
	mending.Target.BusinessType = "wakecall.audit"
	end, err = log.Begin(mending)
	require.NoError(t, err)
	box.broken = nil
	end(mending)
	require.NoError(t, log.Close())
	require.Equal(t, []string{"1", "2", "4"}, box.got)
}

// An event is no larger than a timer's payload.
func TestEventsOfLargeBatches(t *testing.T) {
	t.Parallel()
	box := &mailbox{}
	log := audit.NewLog(audit.NewEvents(box, "wakecall.audit", silent))
	end, err := log.Begin(record("1"))
	require.NoError(t, err)
	large := record("1")
	large.Items = make([]trail.Item, 10_000)
	large.Changes = []timer.FieldChange{{Field: "/tls/ca", To: strings.Repeat("x", timer.MaxPayload)}}
	end(large)
	require.NoError(t, log.Close())
	require.Less(t, len(box.last), timer.MaxPayload)
	var told trail.Record
	require.NoError(t, json.Unmarshal(box.last, &told))
	require.Equal(t, 10_000, told.LeftOut)
	require.Equal(t, []timer.FieldChange{{Field: "/tls/ca"}}, told.Changes)
}

// A process that stops during a call leaves it to the next one.
func TestACallThatOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	open, err := file.Begin(record("1"))
	require.NoError(t, err)
	made(t, audit.NewLog(file), "2")
	require.NoError(t, file.Close())
	open.End(record("1")) // too late; the log has it
	again, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	records, _ := read(t, path)
	require.Equal(t, []string{"2", "1"}, ids(records))
	require.Equal(t, trail.Unknown, records[1].Outcome)
	require.NoError(t, again.Close())
}

// A call that one sink cannot record leaves nothing in another.
func TestAllPlacesOrNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, silent)
	require.NoError(t, err)
	log := audit.NewLog(file, audit.NewEvents(&mailbox{broken: errors.New("down")}, "a", silent))
	_, err = log.Begin(record("1"))
	require.ErrorIs(t, err, audit.ErrClosed)
	journal, err := os.ReadFile(path + ".open")
	require.NoError(t, err)
	require.NotEqual(t, byte('{'), journal[0])
	require.NoError(t, log.Close())
	records, _ := read(t, path)
	require.Empty(t, records)
}

type shop struct{}

func (shop) Actor(businessType string) (wire.Actor, bool) {
	return wire.Actor{Name: "shop", Role: businessType}, true
}

func TestWhoMakesTheChangesOfAContext(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	require.Nil(t, audit.Who(ctx, "order"))
	ctx = audit.With(ctx, shop{})
	require.Equal(t, "order", audit.Who(ctx, "order").Role)
	job := audit.With(ctx, audit.Behalf{Of: audit.Who(ctx, "order").OnBehalf("bulk:7")})
	require.Equal(t, &wire.Actor{Name: "shop", Role: "order", Job: "bulk:7"}, audit.Who(job, "other"))
	require.Nil(t, audit.Who(audit.With(ctx, audit.Behalf{Of: (*wire.Actor)(nil).OnBehalf("bulk:7")}), "order"), "nobody's job is nobody's")
}

// The cost of recording a call in a file.
func BenchmarkFile(b *testing.B) {
	file, err := audit.OpenFile(filepath.Join(b.TempDir(), "audit.log"), silent)
	if err != nil {
		b.Fatal(err)
	}
	log := audit.NewLog(file)
	b.ReportAllocs()
	for b.Loop() {
		one := record("9d31c1ad-68b9-4d65-9f61-e1f2f2a2d3e4")
		end, err := log.Begin(one)
		if err != nil {
			b.Fatal(err)
		}
		audit.Answer(one, http.StatusOK, "")
		end(one)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}

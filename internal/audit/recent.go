package audit

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Recent is a [Sink] that keeps the latest records in memory, so that they can be listed. It keeps
// no items of batches, and no values above [tuning.AuditValues].
type Recent struct {
	mu sync.Mutex
	// timers are the calls of programs about single timers. They are many, and must not displace the
	// others.
	timers, others ring
}

// ring has the latest records of one kind.
type ring struct {
	kept []*trail.Record
	// next is the place of the next record, once the ring is full.
	next, size int
	// since is the time from which on every record is here.
	since wire.Instant
}

// NewRecent returns a sink that knows every record from now on.
func NewRecent(now time.Time) *Recent {
	since := wire.At(now)
	return &Recent{timers: ring{size: tuning.AuditTimers, since: since}, others: ring{size: tuning.AuditOthers, since: since}}
}

// Begin implements [Sink].
func (r *Recent) Begin(*trail.Record) (Open, error) { return openRecent{r}, nil }

type openRecent struct{ in *Recent }

// End implements [Open].
func (o openRecent) End(record *trail.Record) { o.in.add(record) }

// Abandon implements [Open].
func (openRecent) Abandon() {}

// Close implements [Sink].
func (*Recent) Close() error { return nil }

func (r *Recent) add(record *trail.Record) {
	kept := bounded(record)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ringOf(kept).add(kept)
}

func (r *Recent) ringOf(record *trail.Record) *ring {
	byPerson := record.Who != nil && record.Who.Via != ""
	ofTimer := strings.HasPrefix(record.Route, "/v1/timers") || strings.HasPrefix(record.Route, "/v1/deliveries")
	if ofTimer && !byPerson {
		return &r.timers
	}
	return &r.others
}

func (r *ring) add(record *trail.Record) {
	if len(r.kept) < r.size {
		r.kept = append(r.kept, record)
		return
	}
	r.since = max(r.since, r.kept[r.next].At+1)
	r.kept[r.next] = record
	r.next = (r.next + 1) % r.size
}

// Load adds the records at the end of a file, up to [tuning.AuditLoaded] bytes of it. Lines that are
// no records are skipped.
func (r *Recent) Load(path string) error {
	text, err := tail(path)
	if err != nil {
		return err
	}
	var records []trail.Record
	for line := range bytes.Lines(text) {
		var record trail.Record
		if json.Unmarshal(line, &record) == nil {
			records = append(records, record)
		}
	}
	if len(records) > 0 {
		r.setKnownSince(records[0].At)
	}
	for _, record := range records {
		r.add(&record)
	}
	return nil
}

// setKnownSince records that every record from a time on is here.
func (r *Recent) setKnownSince(at wire.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timers.since, r.others.since = min(r.timers.since, at), min(r.others.since, at)
}

// Query asks for records.
type Query struct {
	trail.Filter
	// Sees reports whether the answer may have a record.
	Sees func(*trail.Record) bool
	// After is the last record of the page before; nil for the first page.
	After *trail.Place
	// Size is how many a page has at most.
	Size int
}

// List returns a page of the records, the newest first. more reports whether there are others.
func (r *Recent) List(q Query) (page trail.Page, more bool) {
	found := r.matching(&page, q)
	slices.SortFunc(found, func(a, b *trail.Record) int { return a.Place().Compare(b.Place()) })
	more = len(found) > q.Size
	page.Records = []trail.Record{}
	for _, record := range found[:min(q.Size, len(found))] {
		page.Records = append(page.Records, *record)
	}
	return page, more
}

// matching returns the records of a query, in no order, and notes since when they are known.
func (r *Recent) matching(page *trail.Page, q Query) (found []*trail.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	page.Since, page.TimersSince = r.others.since, r.timers.since
	for _, record := range slices.Concat(r.timers.kept, r.others.kept) {
		before := q.After == nil || q.After.Compare(record.Place()) < 0
		if before && q.Matches(record) && q.Sees(record) {
			found = append(found, record)
		}
	}
	return found
}

// bounded returns a copy of a record without what may be large.
func bounded(r *trail.Record) *trail.Record {
	size := 0
	for _, change := range r.Changes {
		size += len(change.Field) + sizeOf(change.From) + sizeOf(change.To)
	}
	if len(r.Items) > 0 || size > tuning.AuditValues {
		return r.Short()
	}
	kept := *r
	return &kept
}

// sizeOf returns about how many bytes a value has.
func sizeOf(value any) int {
	switch value := value.(type) {
	case nil:
		return 0
	case string:
		return len(value)
	default:
		text, err := json.Marshal(value)
		if err != nil {
			return tuning.AuditValues + 1
		}
		return len(text)
	}
}

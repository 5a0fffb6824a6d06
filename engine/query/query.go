package query

import (
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/wire"
)

// Query is a condition on runs. Its zero value selects every run.
type Query struct{ text string }

// String is the condition as Temporal reads it.
func (q Query) String() string { return q.text }

// ByStatus is a query that counts each status separately.
func (q Query) ByStatus() Query { return Query{q.text + " GROUP BY ExecutionStatus"} }

// All selects the runs that meet all of the conditions. The order stays: tests check the
// plans of databases for it.
func All(conditions ...Query) Query { return join(conditions, " AND ") }

// Either selects the runs that meet one of the conditions. There must be two or more, none
// of them zero.
func Either(conditions ...Query) Query { return Query{"(" + join(conditions, " OR ").text + ")"} }

func join(conditions []Query, word string) Query {
	texts := make([]string, 0, len(conditions))
	for _, condition := range conditions {
		if condition.text != "" {
			texts = append(texts, condition.text)
		}
	}
	return Query{strings.Join(texts, word)}
}

// Keyword is the name of an attribute that holds a text.
type Keyword string

// The attributes that every run has.
const (
	WorkflowID   Keyword = "WorkflowId"
	WorkflowType Keyword = "WorkflowType"
	RunID        Keyword = "RunId"
)

// Is selects the runs with this value.
func (k Keyword) Is(value string) Query { return Query{string(k) + " = " + quote(value)} }

// In selects the runs with one of the values.
func (k Keyword) In(values []string) Query {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = quote(value)
	}
	return Query{string(k) + " IN (" + strings.Join(quoted, ", ") + ")"}
}

// Begins selects the runs whose value begins with a text.
func (k Keyword) Begins(with string) Query { return Query{string(k) + " STARTS_WITH " + quote(with)} }

// Not selects the runs with another value. Runs without a value are not among them.
func (k Keyword) Not(value string) Query { return Query{string(k) + " != " + quote(value)} }

// Missing selects the runs without a value.
func (k Keyword) Missing() Query { return Query{string(k) + " IS NULL"} }

// Time is the name of an attribute that holds an instant.
type Time string

// The instants that every run has. CloseTime is missing in an open run.
const (
	StartTime     Time = "StartTime"
	ExecutionTime Time = "ExecutionTime"
	CloseTime     Time = "CloseTime"
)

// From selects the runs at this instant or later.
func (t Time) From(at wire.Instant) Query { return t.compare(" >= ", at) }

// To selects the runs at this instant or earlier.
func (t Time) To(at wire.Instant) Query { return t.compare(" <= ", at) }

// Before selects the runs earlier than this instant.
func (t Time) Before(at wire.Instant) Query { return t.compare(" < ", at) }

func (t Time) compare(operator string, at wire.Instant) Query {
	return Query{string(t) + operator + quote(min(at, latest).String())}
}

// latest is the last instant that Temporal reads: a year has four digits. A bound may be a moment
// later than the one that a caller gave.
var latest = wire.At(time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC))

// Status selects the runs in one of these statuses, at least one.
func Status(status enumspb.WorkflowExecutionStatus, more ...enumspb.WorkflowExecutionStatus) Query {
	if len(more) == 0 {
		return Query{"ExecutionStatus = " + quote(status.String())}
	}
	quoted := []string{quote(status.String())}
	for _, other := range more {
		quoted = append(quoted, quote(other.String()))
	}
	return Query{"ExecutionStatus IN (" + strings.Join(quoted, ", ") + ")"}
}

// NotStatus selects the runs in every other status.
func NotStatus(status enumspb.WorkflowExecutionStatus) Query {
	return Query{"ExecutionStatus != " + quote(status.String())}
}

// escapes are the characters that would end a text, or begin an escape, in Temporal's
// parser.
var escapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func quote(value string) string { return "'" + escapes.Replace(value) + "'" }

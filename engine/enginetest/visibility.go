package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
)

var (
	comparison = regexp.MustCompile(`^(\w+) (=|!=|>=|<=|<|STARTS_WITH) '((?:[^'\\]|\\.)*)'$`)
	oneOf      = regexp.MustCompile(`^(\w+) IN \((.*)\)$`)
	missing    = regexp.MustCompile(`^(\w+) IS NULL$`)
	unescaped  = strings.NewReplacer(`\\`, `\`, `\'`, `'`)
)

// values returns the values of an attribute of a run in visibility; none if it is missing.
func (r *run) values(attribute string) []string {
	info := r.info()
	switch attribute {
	case "WorkflowId":
		return []string{r.id()}
	case "RunId":
		return []string{info.GetExecution().GetRunId()}
	case "WorkflowType":
		return []string{info.GetType().GetName()}
	case "ExecutionStatus":
		return []string{info.GetStatus().String()}
	case "StartTime":
		return []string{instant(info.GetStartTime().AsTime())}
	case "ExecutionTime":
		return []string{instant(info.GetExecutionTime().AsTime())}
	case "CloseTime":
		if info.GetCloseTime() == nil {
			return nil
		}
		return []string{instant(info.GetCloseTime().AsTime())}
	}
	switch value := r.attributes[attribute].(type) {
	case string:
		return []string{value}
	case []string:
		return value
	case time.Time:
		return []string{instant(value)}
	}
	return nil
}

// instant formats a time as conditions do. The texts sort like the times.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// condition reports whether a run satisfies a part of a query.
type condition func(*run) bool

// parse parses a query in the form of package query.
func parse(query string) (conditions []condition) {
	for _, part := range strings.Split(query, " AND ") {
		if part != "" {
			conditions = append(conditions, parseOne(part))
		}
	}
	return conditions
}

func parseOne(part string) condition {
	if inner, ok := strings.CutPrefix(part, "("); ok {
		var either []condition
		for _, one := range strings.Split(strings.TrimSuffix(inner, ")"), " OR ") {
			either = append(either, parseOne(one))
		}
		return func(r *run) bool {
			return slices.ContainsFunc(either, func(meets condition) bool { return meets(r) })
		}
	}
	if m := missing.FindStringSubmatch(part); m != nil {
		return func(r *run) bool { return len(r.values(m[1])) == 0 }
	}
	if m := oneOf.FindStringSubmatch(part); m != nil {
		these := strings.Split(m[2], ", ")
		return func(r *run) bool {
			return slices.ContainsFunc(r.values(m[1]), func(value string) bool { return slices.Contains(these, "'"+value+"'") })
		}
	}
	m := comparison.FindStringSubmatch(part)
	if m == nil {
		panic(fmt.Sprintf("enginetest does not know the condition %q", part)) //nolint:forbidigo // a test has to learn of it
	}
	want := unescaped.Replace(m[3])
	return func(r *run) bool {
		return slices.ContainsFunc(r.values(m[1]), func(value string) bool { return r.compares(m[1], m[2], value, want) })
	}
}

// compares compares the value of an attribute with the value in a query.
func (r *run) compares(attribute, operator, value, want string) bool {
	switch operator {
	case "=":
		return value == want
	case "!=":
		return value != want
	case ">=":
		return value >= want
	case "<=":
		if _, custom := r.attributes[attribute].(time.Time); custom {
			return value < want // as SQLite compares the text that it stores
		}
		return value <= want
	case "<":
		return value < want
	}
	return strings.HasPrefix(value, want)
}

// newest orders runs as visibility does: open runs first, then closed runs by their end, the latest
// first. Runs with the same rank are ordered by their start, the latest first.
func newest(a, b *run) int {
	closed := func(r *run) int64 {
		if at := r.info().GetCloseTime(); at != nil {
			return at.AsTime().UnixNano()
		}
		return math.MaxInt64
	}
	return cmp.Or(cmp.Compare(closed(b), closed(a)), b.info().GetStartTime().AsTime().Compare(a.info().GetStartTime().AsTime()))
}

// found returns the runs that a query selects, in the order of [newest]. The caller holds the lock.
func (s *store) found(query string) (found []*run) {
	conditions := parse(query)
	for _, r := range slices.Backward(s.runs) {
		if !slices.ContainsFunc(conditions, func(meets condition) bool { return !meets(r) }) {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, newest)
	return found
}

// ListWorkflow implements [client.Client].
func (t *Temporal) ListWorkflow(_ context.Context,
	r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return called(t, Call{Name: "ListWorkflow", Of: r.GetQuery()}, func() (*workflowservice.ListWorkflowExecutionsResponse, error) {
		some, next := page(t.found(r.GetQuery()), int(r.GetPageSize()), r.GetNextPageToken())
		answer := &workflowservice.ListWorkflowExecutionsResponse{NextPageToken: next}
		for _, one := range some {
			answer.Executions = append(answer.Executions, proto.CloneOf[*workflowpb.WorkflowExecutionInfo](one.info()))
		}
		return answer, nil
	})
}

const byStatus = " GROUP BY ExecutionStatus"

// CountWorkflow implements [client.Client].
func (t *Temporal) CountWorkflow(_ context.Context,
	r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return called(t, Call{Name: "CountWorkflow", Of: r.GetQuery()}, func() (*workflowservice.CountWorkflowExecutionsResponse, error) {
		query, grouped := strings.CutSuffix(r.GetQuery(), byStatus)
		found := t.found(query)
		answer := &workflowservice.CountWorkflowExecutionsResponse{Count: int64(len(found))}
		if !grouped {
			return answer, nil
		}
		counts := map[string]int64{}
		for _, one := range found {
			counts[one.info().GetStatus().String()]++
		}
		for status, n := range counts {
			name, err := Payloads.ToPayload(status)
			if err != nil {
				return nil, err
			}
			answer.Groups = append(answer.Groups, &workflowservice.CountWorkflowExecutionsResponse_AggregationGroup{
				GroupValues: []*commonpb.Payload{name}, Count: n,
			})
		}
		return answer, nil
	})
}

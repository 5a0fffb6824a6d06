package enginetest

import (
	"context"
	"slices"
	"strconv"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// GetWorkflowHistory implements [client.Client]. If only the last event is requested, its iterator
// waits for the end of the run.
//
//nolint:revive // the client's own arguments
func (t *Temporal) GetWorkflowHistory(
	ctx context.Context, id, runID string, _ bool, filter enumspb.HistoryEventFilterType,
) client.HistoryEventIterator {
	history, err := called(t, Call{Name: "GetWorkflowHistory", Of: id}, func() (client.HistoryEventIterator, error) {
		r := t.latest(id, runID)
		switch {
		case r == nil:
			return nil, notFound()
		case filter == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT:
			return &lastEvent{ctx: ctx, of: t, run: r}, nil
		}
		return &events{left: slices.Clone(r.events)}, nil
	})
	if err != nil {
		return &events{err: err}
	}
	return history
}

// events is a history. It may end with an error.
type events struct {
	client.HistoryEventIterator
	left []*historypb.HistoryEvent
	err  error
}

// HasNext implements [client.HistoryEventIterator].
func (e *events) HasNext() bool { return len(e.left) > 0 || e.err != nil }

// Next implements [client.HistoryEventIterator].
func (e *events) Next() (*historypb.HistoryEvent, error) {
	if len(e.left) == 0 {
		return nil, e.err
	}
	next := e.left[0]
	e.left = e.left[1:]
	return next, nil
}

// lastEvent waits for the last event of a run.
type lastEvent struct {
	client.HistoryEventIterator
	ctx context.Context
	of  *Temporal
	run *run
}

// Next implements [client.HistoryEventIterator].
func (l *lastEvent) Next() (*historypb.HistoryEvent, error) {
	select {
	case <-l.run.closed:
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		return l.run.events[len(l.run.events)-1], nil
	case <-l.ctx.Done():
		return nil, l.ctx.Err()
	}
}

// page returns one page of a list and the token of the next one. A size of 0 is unlimited. A full
// page has a token even if nothing follows, as on a server.
func page[E any](all []E, size int, token []byte) (some []E, next []byte) {
	from, _ := strconv.Atoi(string(token))
	from = min(from, len(all))
	to := len(all)
	if size > 0 {
		to = min(from+size, to)
	}
	if size > 0 && to == from+size {
		next = []byte(strconv.Itoa(to))
	}
	return slices.Clone(all[from:to]), next
}

func (s service) GetWorkflowExecutionHistory(
	_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	call := Call{Name: "GetWorkflowExecutionHistory", Of: r.GetExecution().GetWorkflowId()}
	return called(s.t, call, func() (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
		found := s.t.execution(r.GetExecution())
		if found == nil {
			return nil, notFound()
		}
		some, next := page(found.events, int(r.GetMaximumPageSize()), r.GetNextPageToken())
		return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: some}, NextPageToken: next}, nil
	})
}

func (s service) GetWorkflowExecutionHistoryReverse(
	_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryReverseRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	call := Call{Name: "GetWorkflowExecutionHistoryReverse", Of: r.GetExecution().GetWorkflowId()}
	return called(s.t, call, func() (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
		found := s.t.execution(r.GetExecution())
		if found == nil {
			return nil, notFound()
		}
		last := slices.Clone(found.events)
		slices.Reverse(last)
		some, next := page(last, int(r.GetMaximumPageSize()), r.GetNextPageToken())
		return &workflowservice.GetWorkflowExecutionHistoryReverseResponse{History: &historypb.History{Events: some}, NextPageToken: next}, nil
	})
}

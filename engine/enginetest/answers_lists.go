package enginetest

import (
	"errors"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/workflows"
)

// histories adds the pages of a history.
func (s *script) histories() {
	read := func(id string, token []byte) ([]byte, error) {
		page, err := s.WorkflowService().GetWorkflowExecutionHistory(s.tb.Context(), &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: s.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: s.id(id)}, MaximumPageSize: 1, NextPageToken: token,
		})
		s.say("a page of the history of "+id, err, len(page.GetHistory().GetEvents()), "more:", len(page.GetNextPageToken()) > 0)
		return page.GetNextPageToken(), err
	}
	token, _ := read("completed", nil)
	_, _ = read("completed", token)
	_, _ = read("nothing", nil)
	last, err := s.WorkflowService().GetWorkflowExecutionHistoryReverse(s.tb.Context(),
		&workflowservice.GetWorkflowExecutionHistoryReverseRequest{
			Namespace: s.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: s.id("completed")}, MaximumPageSize: 1,
		})
	s.say("its last event", err, last.GetHistory().GetEvents()[0].GetEventType())
}

// lists adds what visibility finds. On a server it lags behind, so the test waits for it.
func (s *script) lists() {
	ctx := s.tb.Context()
	due := time.Now().UTC().Truncate(time.Second).Add(time.Hour)
	for i, state := range []string{"delivering", "paused", ""} {
		options := s.options("listed-" + string(rune('a'+i)))
		options.StartDelay = time.Hour
		attributes := []temporal.SearchAttributeUpdate{
			workflows.AttrBusinessType.ValueSet(s.name), workflows.AttrDueAt.ValueSet(due.Add(time.Duration(i) * time.Minute)),
		}
		if state != "" {
			attributes = append(attributes, workflows.AttrState.ValueSet(state))
		}
		if i > 0 {
			attributes = append(attributes, workflows.AttrLabels.ValueSet([]string{"n=1", "it's"}))
		}
		options.TypedSearchAttributes = temporal.NewSearchAttributes(attributes...)
		options.Memo = map[string]any{"said": state}
		s.start(options)
	}
	s.say("put away", s.TerminateWorkflow(ctx, s.id("listed-a"), "", "put away"))
	mine := workflows.AttrBusinessType.GetName() + " = '" + s.name + "'"
	s.await(mine+" AND ExecutionStatus = 'Terminated'", 1)
	s.await(mine, 3)
	state, dueAt, labels := workflows.AttrState.GetName(), workflows.AttrDueAt.GetName(), workflows.AttrLabels.GetName()
	for _, condition := range []string{
		"ExecutionStatus = 'Running'", "ExecutionStatus != 'Running'", "ExecutionStatus IN ('Running', 'Terminated')",
		"WorkflowType = '" + workflows.TypeCheck + "'", "WorkflowId = '" + s.id("listed-b") + "'",
		"WorkflowId STARTS_WITH '" + s.id("listed") + "'",
		"WorkflowId IN ('" + s.id("listed-a") + "', '" + s.id("listed-c") + "')",
		state + " = 'paused'", state + " IS NULL", "(" + state + " = 'paused' OR " + state + " = 'delivering')",
		labels + " = 'n=1'", labels + ` = 'it\'s'`, labels + " IS NULL",
		dueAt + " >= '" + instant(due.Add(time.Minute)) + "'", dueAt + " < '" + instant(due.Add(time.Minute)) + "'",
		dueAt + " <= '" + instant(due.Add(time.Minute)) + "'",
		"CloseTime >= '" + instant(due.Add(-2*time.Hour)) + "'", "CloseTime < '" + instant(due) + "'",
		"StartTime < '" + instant(due) + "'", "ExecutionTime >= '" + instant(due.Add(-time.Minute)) + "'",
	} {
		counted, err := s.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: s.namespace,
			Query: mine + " AND " + condition})
		s.say("found by "+strings.Join(strings.Fields(condition)[:2], " "), err, counted.GetCount())
	}
	s.pages(mine, 2)
	s.pages(mine, 3)
	counted, err := s.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: s.namespace,
		Query: mine + " GROUP BY ExecutionStatus"})
	groups := map[string]int64{}
	for _, group := range counted.GetGroups() {
		var status string
		if err := Payloads.FromPayload(group.GetGroupValues()[0], &status); err != nil {
			s.tb.Fatal(err)
		}
		groups[status] = group.GetCount()
	}
	s.say("counted by status", err, groups, counted.GetCount())
}

// pages adds the pages of a list, of a given size, and their order.
func (s *script) pages(query string, size int32) {
	var token []byte
	for more := true; more; more = len(token) > 0 {
		found, err := s.ListWorkflow(s.tb.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: s.namespace, Query: query, PageSize: size, NextPageToken: token,
		})
		names := []string{}
		for _, info := range found.GetExecutions() {
			var said string
			_ = Payloads.FromPayload(info.GetMemo().GetFields()["said"], &said)
			names = append(names, info.GetExecution().GetWorkflowId()[len(s.name):]+" "+info.GetStatus().String()+" "+said)
		}
		token = found.GetNextPageToken()
		s.say("a page", err, names, "more:", len(token) > 0)
	}
}

// await waits until visibility finds the given number of runs.
func (s *script) await(query string, want int64) {
	for {
		counted, err := s.CountWorkflow(s.tb.Context(), &workflowservice.CountWorkflowExecutionsRequest{Namespace: s.namespace, Query: query})
		if err != nil {
			s.tb.Fatal(err)
		}
		if counted.GetCount() == want {
			return
		}
		s.pause()
	}
}

// pause waits for a moment, or until the test ends.
func (s *script) pause() {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-s.tb.Context().Done():
		s.tb.Fatal("the test has ended")
	}
}

// deletions adds what a delete removes. A server deletes a moment later. It keeps the runs before
// the last one, which are then found only by their own ids.
func (s *script) deletions() {
	remove := func(id string) error {
		_, err := s.WorkflowService().DeleteWorkflowExecution(s.tb.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: s.id(id)},
		})
		return err
	}
	s.say("a deletion of nothing", remove("nothing"))
	_, err := s.DescribeWorkflowExecution(s.tb.Context(), s.id("completed"), s.firstCompleted)
	s.say("the run before the last one", err)
	for _, id := range []string{"signalled", "listed-b", "completed"} {
		s.say("a deletion", remove(id))
		for {
			_, err := s.DescribeWorkflowExecution(s.tb.Context(), s.id(id), "")
			if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
				break
			}
			s.pause()
		}
	}
	_, err = s.DescribeWorkflowExecution(s.tb.Context(), s.id("completed"), s.firstCompleted)
	s.say("the run before the one that was deleted", err)
}

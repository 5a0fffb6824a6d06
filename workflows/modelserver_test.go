package workflows_test

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/model"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// playServer replaces Temporal's server, the workers and the receiver in one run of a play.
// The SDK's own test environment does not wait for an attempt in flight at a cancel.
type playServer struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	play  *play
	env   *testsuite.TestWorkflowEnvironment
	again []model.Event
	// woke is the clock's event that begins the run, in the state cold; "" for none.
	woke model.Event
	cold model.State

	// first is the first attempt that the workflow has requested; nil before that.
	first workflow.Settable
	// recorded is the server's last report, and answer is the answer to the attempt in
	// flight; "" while it is in flight.
	recorded *delivery.Report
	inFlight bool
	// waits is until when the next attempt waits, and waitOver reports whether that has passed.
	waits    time.Time
	waitOver bool
	answer   model.Event
	ackUntil wire.Instant
}

func (s *playServer) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	s.WorkflowInboundInterceptorBase.Next = next
	return s
}

func (s *playServer) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	s.WorkflowOutboundInterceptorBase.Next = outbound
	return s.WorkflowInboundInterceptorBase.Init(s)
}

func (s *playServer) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	p := s.play
	apart, _ := workflow.NewDisconnectedContext(ctx)
	changes, arrived := workflow.GetSignalChannel(ctx, workflows.SignalChange), 0
	for _, e := range s.again { // a dead worker has not applied them
		arrived += s.send(apart, e)
	}
	if len(s.again) == 0 && p.spec.Ongoing == nil && p.state.Phase.Cold() && len(p.script) > 0 {
		e, from := p.advance()
		if isCall(e) {
			arrived += s.send(apart, e)
			s.again = []model.Event{e}
		} else {
			s.woke, s.cold = e, from
		}
	}
	if len(s.again) > 0 {
		_ = workflow.Await(ctx, func() bool { return arrived > 0 && changes.Len() >= arrived && s.again[len(s.again)-1] != model.Cancel })
	}
	workflow.Go(apart, s.drive)
	return s.WorkflowInboundInterceptorBase.ExecuteWorkflow(ctx, in)
}

// isCall reports whether an event is a client's call.
func isCall(e model.Event) bool {
	switch e {
	case model.Move, model.Edit, model.Push, model.Fire, model.Pause, model.Resume, model.Cancel:
		return true
	default:
		return false
	}
}

// send sends a client's call. It counts the changes.
func (s *playServer) send(ctx workflow.Context, e model.Event) int {
	if e == model.Cancel {
		s.env.CancelWorkflow()
		return 0
	}
	s.env.SignalWorkflow(workflows.SignalChange, s.play.changeOf(e, workflow.Now(ctx)))
	return 1
}

// drive plays the script's events in this run.
func (s *playServer) drive(ctx workflow.Context) {
	p := s.play
	if p.state.Phase == model.Attempting && s.woke == "" { // made again
		s.awaitFirst(ctx)
		p.seen = append(p.seen, model.Effect{Name: model.Ring, Attempt: 1})
	}
	if s.woke != "" {
		s.enact(ctx, s.woke, s.cold)
	}
	for len(p.script) > 0 && !p.state.Phase.Ended() && !p.died {
		_ = workflow.Sleep(ctx, time.Second)
		e, from := p.advance()
		s.enact(ctx, e, from)
	}
}

func (s *playServer) awaitFirst(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool { return s.first != nil })
}

// enact makes an event happen.
func (s *playServer) enact(ctx workflow.Context, e model.Event, from model.State) {
	p := s.play
	switch {
	case isCall(e):
		if s.send(ctx, e); from.Phase == model.Held {
			s.first.Set(delivery.Report{Result: delivery.ResultInterrupted}, nil)
		}
	case e == model.HandedOut:
		s.awaitFirst(ctx)
	case e == model.Due:
		s.awaitFirst(ctx)
		_ = workflow.Sleep(ctx, p.spec.RingsAt().Until(workflow.Now(ctx)))
		p.seen = append(p.seen, model.Effect{Name: model.Ring, Attempt: 1})
	case e == model.DueLimited:
		s.awaitFirst(ctx)
		s.first.Set(delivery.Report{Result: delivery.ResultUseQueue, Latest: p.spec.Latest(0), PolicyVersion: 1}, nil)
	case e == model.WaitOver:
		_ = workflow.Sleep(ctx, s.waits.Sub(workflow.Now(ctx)))
		s.waitOver = true
		_ = workflow.Await(ctx, func() bool { return s.inFlight })
	case e == model.LatestPasses && from.Phase.Cold():
		s.awaitFirst(ctx)
		s.first.Set(delivery.Report{Result: delivery.ResultExpired}, nil)
	case e == model.LatestPasses:
		_ = workflow.Sleep(ctx, p.spec.Latest(0).Until(workflow.Now(ctx))+time.Second)
	case e == model.AckOver:
		_ = workflow.Sleep(ctx, s.ackUntil.Until(workflow.Now(ctx))+time.Second)
	case e == model.Ack, e == model.Nack:
		s.env.SignalWorkflow(workflows.SignalAcknowledge, delivery.Acknowledgement{
			WebhookID: p.spec.WebhookID(), Round: p.spec.Round, Attempt: from.Attempt, Nack: e == model.Nack,
		})
	case e == model.WorkerStops:
		s.first.Set(delivery.Report{Result: delivery.ResultWorkerStopping}, nil)
	case e == model.NoRoom:
		s.first.Set(delivery.Report{Result: delivery.ResultRejected}, nil)
	case from.Phase == model.Retrying:
		s.answer = p.wrong(e)
	case e == model.WorkerDies:
		s.die(from)
	default:
		report := s.noted(p.report(p.wrong(e), 1, workflow.Now(ctx)))
		s.first.Set(report, nil)
	}
}

// die ends the run without a record. Its events reach its next task.
func (s *playServer) die(from model.State) {
	p := s.play
	if p.died = true; from.Change != "" {
		p.again = append(p.again, from.Change)
	}
	if from.Cancelling {
		p.again = append(p.again, model.Cancel)
	}
	s.first.Set(delivery.Report{Result: delivery.ResultDelivered}, nil)
}

func (s *playServer) noted(report delivery.Report) delivery.Report {
	s.ackUntil = report.AckUntil
	return report
}

func (s *playServer) ExecuteLocalActivity(ctx workflow.Context, name string, _ ...any) workflow.Future {
	future, answer := workflow.NewFuture(ctx)
	switch name {
	case workflows.ActivityFirstAttempt:
		s.first = answer
	case workflows.ActivityReceipt:
		answer.Set(delivery.Report{Result: delivery.ResultUseQueue}, nil)
	case workflows.ActivityRunState:
		answer.Set(timer.RunState{Wanted: true, Last: s.recorded, Latest: s.play.spec.Latest(0), PolicyVersion: 1}, nil)
	default:
		s.play.fault("asks for %s", name)
	}
	return future
}

func (s *playServer) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	future, answer := workflow.NewFuture(ctx)
	of, ok := args[0].(timer.Delivery)
	if !ok || name != workflows.ActivityDeliver {
		s.play.fault("asks for %s", name)
		return future
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	s.recorded = of.Prior
	workflow.Go(apart, func(apart workflow.Context) { answer.Set(s.deliver(ctx, apart)) })
	return future
}

// deliver has the attempts made one after the other, until the last one or a cancel. It
// waits for an attempt in flight.
func (s *playServer) deliver(ctx, apart workflow.Context) (any, error) {
	cancelled := func() bool { return ctx.Err() != nil }
	s.waits = workflow.Now(apart)
	if s.recorded != nil {
		s.waits = s.recorded.EndedAt.Add(s.recorded.RetryIn.D()).Time()
	}
	for {
		s.waitOver = false
		if _ = workflow.Await(apart, func() bool { return cancelled() || s.waitOver }); cancelled() {
			return nil, temporal.NewCanceledError()
		}
		number := 1
		if s.recorded != nil {
			number = s.recorded.Attempt + 1
		}
		s.play.seen = append(s.play.seen, model.Effect{Name: model.Retry, Attempt: number})
		s.inFlight, s.answer = true, ""
		_ = workflow.Await(apart, func() bool { return s.answer != "" })
		s.inFlight = false
		if s.answer == model.WorkerDies {
			if s.waits = workflow.Now(apart).Add(tuning.LostTryFirst); cancelled() {
				return nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil)
			}
			continue
		}
		report := s.noted(s.play.report(s.answer, number, workflow.Now(apart)))
		if report.Result == delivery.ResultDelivered || report.Result == delivery.ResultAccepted {
			return report, nil
		}
		if s.waits = workflow.Now(apart).Add(report.RetryIn.D()); cancelled() || report.Result.Final() {
			return nil, temporal.NewApplicationErrorWithOptions("HTTP 500", "", temporal.ApplicationErrorOptions{
				NonRetryable: true, Details: []any{report},
			})
		}
		s.recorded = &report
	}
}

func (s *playServer) UpsertTypedSearchAttributes(ctx workflow.Context, attributes ...temporal.SearchAttributeUpdate) error {
	if state, ok := temporal.NewSearchAttributes(attributes...).GetKeyword(workflows.AttrState); ok && !s.play.died {
		s.play.seen = append(s.play.seen, model.Effect{Name: model.Show, Status: timer.Status(state)})
	}
	return s.WorkflowOutboundInterceptorBase.UpsertTypedSearchAttributes(ctx, attributes...)
}

func (s *playServer) UpsertMemo(ctx workflow.Context, memo map[string]any) error {
	if _, ok := memo[workflows.MemoAcceptance]; ok && !s.play.died {
		s.play.seen = append(s.play.seen, model.Effect{Name: model.Remember})
	}
	return s.WorkflowOutboundInterceptorBase.UpsertMemo(ctx, memo)
}

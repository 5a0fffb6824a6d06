package kernel

import (
	"context"
	"net/url"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Kernel is the base of every noun: one namespace of one Temporal. Each of its calls is
// bounded in time; a caller of several bounds them together. Its errors are those of
// [Translate], unless a method says otherwise.
type Kernel struct {
	Client    client.Client
	Namespace string
	// webUI is the base URL of Temporal's Web UI; empty for none.
	webUI string
	// Leaving is done once callers must no longer wait for effects.
	Leaving context.Context
	leave   context.CancelFunc
}

// New returns a kernel on a connected client. webUI is the base URL of Temporal's Web
// UI; empty for none.
func New(client client.Client, namespace, webUI string) *Kernel {
	k := &Kernel{Client: client, Namespace: namespace, webUI: webUI}
	k.Leaving, k.leave = context.WithCancel(context.Background())
	return k
}

// EndWaits ends the waits of all callers, from now on.
func (k *Kernel) EndWaits() { k.leave() }

// Bounded returns a context for one call to Temporal, which may take [tuning.CallTimeout].
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, tuning.CallTimeout)
}

// Describe returns what Temporal knows of a run; "" is the latest. It leaves out the
// activities that watch over a waiting attempt.
func (k *Kernel) Describe(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	described, err := k.DescribeAll(ctx, workflowID, runID)
	if err == nil {
		described.PendingActivities = slices.DeleteFunc(described.GetPendingActivities(), Watches)
	}
	return described, err
}

// DescribeAll is [Kernel.Describe] with the activities that watch over attempts.
func (k *Kernel) DescribeAll(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	described, err := k.Client.DescribeWorkflowExecution(ctx, workflowID, runID)
	return described, Translate(err)
}

// List reads one page of the runs that a query selects. Visibility lags behind by a moment.
// An empty token asks for the first page. The errors are [wire.InvalidRequest] for a token that
// Temporal did not make, and [wire.Unavailable].
func (k *Kernel) List(ctx context.Context, q query.Query, size int, token []byte) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	questions.Asked(ctx)
	response, err := k.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: k.Namespace, PageSize: int32(size), NextPageToken: token, Query: q.String(),
	})
	if len(token) > 0 {
		err = OfToken(err)
	}
	return response, Translate(err)
}

// EachPage reads all the runs that a query selects, page by page, until see returns an error.
func (k *Kernel) EachPage(ctx context.Context, q query.Query, see func([]*workflowpb.WorkflowExecutionInfo) error) error {
	var token []byte
	for {
		response, err := k.List(ctx, q, tuning.MaxListed, token)
		if err != nil {
			return err
		}
		if err := see(response.GetExecutions()); err != nil {
			return err
		}
		if token = response.GetNextPageToken(); len(token) == 0 {
			return nil
		}
	}
}

// Count counts the runs that a query selects, as far as visibility shows them.
func (k *Kernel) Count(ctx context.Context, q query.Query) (int, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	questions.Asked(ctx)
	response, err := k.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: k.Namespace, Query: q.String(),
	})
	return int(response.GetCount()), Translate(err)
}

// CountByStatus counts the runs of each of Temporal's statuses that a query selects.
func (k *Kernel) CountByStatus(ctx context.Context, q query.Query) (map[enumspb.WorkflowExecutionStatus]int, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	questions.Asked(ctx)
	response, err := k.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: k.Namespace, Query: q.ByStatus().String(),
	})
	if err != nil {
		return nil, Translate(err)
	}
	counts := map[enumspb.WorkflowExecutionStatus]int{}
	for _, group := range response.GetGroups() {
		var name string
		if len(group.GetGroupValues()) != 1 || Payloads.FromPayload(group.GetGroupValues()[0], &name) != nil {
			return nil, &wire.Error{Code: wire.Internal, Message: "A count from Temporal cannot be read."}
		}
		status, err := enumspb.WorkflowExecutionStatusFromString(name)
		if err != nil {
			return nil, &wire.Error{Code: wire.Internal, Message: "A status from Temporal is not known.", Cause: err}
		}
		counts[status] += int(group.GetCount())
	}
	return counts, nil
}

// EachEvent reads the history of a run.
func (k *Kernel) EachEvent(ctx context.Context, workflowID, runID string, see func(*historypb.HistoryEvent)) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	history := k.Client.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return Translate(err)
		}
		see(event)
	}
	return nil
}

// Update sends a workflow an update, and waits until it is complete. It needs a worker. The
// error is Temporal's own, and the caller bounds it in time.
func (k *Kernel) Update(ctx context.Context, workflowID, name string, args ...any) error {
	handle, err := k.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

// Waiting bounds a caller's wait for an effect. It cancels and sets no deadline: in the last
// second before a deadline, server 1.32.1 answers a long poll at once, and the SDK asks
// again without a pause.
func (k *Kernel) Waiting(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	over := time.AfterFunc(wait, cancel)
	stop := context.AfterFunc(k.Leaving, cancel)
	return ctx, func() { over.Stop(); stop(); cancel() }
}

// Link is the address of a run in the Web UI; "" without one.
func (k *Kernel) Link(workflowID, runID string) string {
	if k.webUI == "" {
		return ""
	}
	return k.webUI + "/namespaces/" + url.PathEscape(k.Namespace) + "/workflows/" +
		url.PathEscape(workflowID) + "/" + url.PathEscape(runID)
}

// Payloads encodes and decodes values as Temporal's client does.
var Payloads = converter.GetDefaultDataConverter()

// ReadMemo reads a field of a workflow's memo. The error is [wire.Internal], and names the workflow
// by noun.
func ReadMemo(info *workflowpb.WorkflowExecutionInfo, field, noun string, into any) error {
	if err := Payloads.FromPayload(info.GetMemo().GetFields()[field], into); err != nil {
		return &wire.Error{Code: wire.Internal, Message: "The " + noun + "'s memo cannot be read.", Cause: err}
	}
	return nil
}

// Running reports whether a run is open.
func Running(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == visibility.Running
}

const (
	// DefaultWait is how long a caller waits for an effect by default.
	DefaultWait = 2 * time.Second
	// MaxWait is the longest wait that a caller may ask for.
	MaxWait = 30 * time.Second
)

package namespace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// SearchAttributes are the required search attributes of the namespace.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		workflows.AttrBusinessType.GetName(): enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflows.AttrBusinessID.GetName():   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflows.AttrState.GetName():        enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflows.AttrDueAt.GetName():        enumspb.INDEXED_VALUE_TYPE_DATETIME,
		workflows.AttrWebhookID.GetName():    enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflows.AttrLabels.GetName():       enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	}
}

// Namespace is Temporal's namespace as a whole: its setup and its readiness.
type Namespace struct{ kernel *kernel.Kernel }

// New returns a namespace, which need not exist yet.
func New(k *kernel.Kernel) *Namespace { return &Namespace{kernel: k} }

// Prepare makes the namespace ready: it registers the missing search attributes and starts
// the readiness probe. It may be repeated.
func (n *Namespace) Prepare(ctx context.Context) error {
	if err := n.registerAttributes(ctx); err != nil {
		return fmt.Errorf("preparing the namespace %s: %w", n.kernel.Namespace, err)
	}
	if err := n.startProbe(ctx); err != nil {
		return fmt.Errorf("starting the readiness probe: %w", err)
	}
	if err := n.awaitAttributes(ctx); err != nil {
		return fmt.Errorf("waiting for the search attributes: %w", err)
	}
	return nil
}

// startProbe starts the readiness probe, unless it runs.
func (n *Namespace) startProbe(ctx context.Context) error {
	_, err := n.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.ProbeID,
		TaskQueue:                workflows.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "Wakecall's readiness probe",
	}, workflows.TypeProbe)
	return err
}

func (n *Namespace) registerAttributes(ctx context.Context) error {
	operator := n.kernel.Client.OperatorService()
	known, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: n.kernel.Namespace})
	if err != nil {
		return err
	}
	missing := SearchAttributes()
	for name, kind := range known.GetCustomAttributes() {
		if want, ours := missing[name]; ours && want != kind {
			return fmt.Errorf("the search attribute %s is %s and must be %s", name, kind, want)
		}
		delete(missing, name)
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: n.kernel.Namespace, SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("the search attributes %v are missing and could not be registered: %w", slices.Sorted(maps.Keys(missing)), err)
	}
	return nil
}

// awaitAttributes waits until Temporal accepts the registered attributes. Temporal's parts
// learn of a new search attribute one after another, and refuse a start with one they do not
// know. So it tries a start of the existing probe. Visibility, which stores attributes in
// the end, need not answer for that.
func (n *Namespace) awaitAttributes(ctx context.Context) error {
	poll := time.NewTicker(tuning.AttributePoll)
	defer poll.Stop()
	for {
		_, err := n.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: workflows.ProbeID, TaskQueue: workflows.TaskQueue,
			WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
			WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowExecutionErrorWhenAlreadyStarted: true,
			TypedSearchAttributes:                    workflows.AllAttributes(),
		}, workflows.TypeProbe)
		if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
			return nil
		}
		if !errtype.Is[*serviceerror.InvalidArgument](err) {
			return err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ready reports whether a timer can be booked and would ring: Temporal stores an update, and
// a worker handles it. If the probe was ended, Ready starts it again.
func (n *Namespace) Ready(ctx context.Context) error {
	err := n.askProbe(ctx)
	if errtype.Is[*serviceerror.NotFound](err) {
		if err = n.startProbe(ctx); err == nil {
			err = n.askProbe(ctx)
		}
	}
	return kernel.Translate(err)
}

func (n *Namespace) askProbe(ctx context.Context) error {
	return n.kernel.Update(ctx, workflows.ProbeID, workflows.UpdateProbe)
}

package emergencies

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Emergencies pause the callbacks of a business type, or of all, and resume them. Each
// is an open workflow that nobody runs: it holds for as long as it is open, so that
// neither call needs a worker, and both may be repeated. A cancel cannot end it, and a
// terminate by any tool resumes.
type Emergencies struct {
	kernel *kernel.Kernel
	cache  *emergencyCache
}

// New returns the emergencies of a namespace. ttl bounds how long one that was read is trusted.
func New(k *kernel.Kernel, ttl time.Duration) *Emergencies {
	e := &Emergencies{kernel: k}
	e.cache = newEmergencyCache(min(ttl, tuning.EmergencyTrusted), e.read)
	return e
}

// Pause pauses what the order names, and returns what of it is paused now: whatever was
// paused already stays as it was. Its errors are [wire.InvalidRequest] and
// [wire.Unavailable]; a part may be paused then, and the order may be repeated.
func (e *Emergencies) Pause(ctx context.Context, order policy.EmergencyOrder) (paused []policy.Emergency, err error) {
	if err := order.Check().Err(); err != nil {
		return nil, err
	}
	for _, emergency := range order.Emergencies(wire.At(time.Now())) {
		if err := e.start(ctx, emergency); err != nil {
			return nil, err
		}
		e.cache.forget(emergency.BusinessType)
		held, _, err := e.current(ctx, emergency.BusinessType)
		if err != nil {
			return nil, err
		}
		paused = append(paused, held)
	}
	return paused, nil
}

func (e *Emergencies) start(ctx context.Context, emergency policy.Emergency) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_, err := e.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.EmergencyID(emergency.BusinessType), TaskQueue: workflows.NobodysQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     map[string]any{workflows.MemoEmergency: emergency},
		// No search attribute: who cancels or terminates timers by query means no pause.
		StaticSummary: "callbacks are paused by " + emergency.Author,
	}, workflows.TypeEmergency)
	return kernel.Translate(err)
}

// Resume resumes what the order names, and returns what is paused all the same:
// everything, where the order names single types, and single types where it names
// everything. What is not paused is no error. Its errors are [wire.InvalidRequest] and
// [wire.Unavailable]; a part may be resumed then, and the order may be repeated. That what is
// left cannot be read is no error: the resumption is in force.
func (e *Emergencies) Resume(ctx context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	if err := order.Check().Err(); err != nil {
		return policy.Held{}, err
	}
	for _, emergency := range order.Emergencies(0) {
		if err := e.end(ctx, emergency); err != nil {
			return policy.Held{}, err
		}
		e.cache.forget(emergency.BusinessType)
	}
	paused, err := e.held(ctx, order)
	return policy.Held{Paused: paused, Incomplete: err != nil}, nil
}

// held lists what holds the callbacks of an order back.
func (e *Emergencies) held(ctx context.Context, order policy.EmergencyOrder) ([]policy.Emergency, error) {
	if order.Everything {
		return e.listedAndHeld(ctx)
	}
	all, held, err := e.current(ctx, "")
	if err != nil || !held {
		return nil, err
	}
	return []policy.Emergency{all}, nil
}

// listedAndHeld lists what is paused, exactly as far as visibility has heard of it: what it
// has not yet heard the end of is left out.
func (e *Emergencies) listedAndHeld(ctx context.Context) (paused []policy.Emergency, err error) {
	listed, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, emergency := range listed {
		current, held, err := e.current(ctx, emergency.BusinessType)
		if err != nil {
			return nil, err
		}
		if held {
			paused = append(paused, current)
		}
	}
	return paused, nil
}

func (e *Emergencies) end(ctx context.Context, emergency policy.Emergency) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_, err := e.kernel.Client.WorkflowService().TerminateWorkflowExecution(ctx, &workflowservice.TerminateWorkflowExecutionRequest{
		Namespace: e.kernel.Namespace, Identity: actors.Identity, Reason: "resumed by " + emergency.Author + ": " + emergency.Note,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflows.EmergencyID(emergency.BusinessType)},
	})
	if errtype.Is[*serviceerror.NotFound](err) {
		return nil
	}
	return kernel.Translate(err)
}

// List lists what is paused now: everything first, then the types as far as visibility
// has heard of them. Its error is [wire.Unavailable].
func (e *Emergencies) List(ctx context.Context) ([]policy.Emergency, error) {
	paused := []policy.Emergency{}
	all, held, err := e.current(ctx, "")
	if err != nil {
		return nil, err
	}
	if held {
		paused = append(paused, all)
	}
	open := query.All(query.WorkflowType.Is(workflows.TypeEmergency), query.Status(visibility.Running))
	err = e.kernel.EachPage(ctx, open, func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			emergency, err := emergencyOf(info)
			if err != nil {
				return err
			}
			if !emergency.Everything {
				paused = append(paused, emergency)
			}
		}
		return nil
	})
	return paused, err
}

// Paused reports whether the callbacks of a business type are held back, from a cache that is
// two seconds old at the most. It needs no worker. Its error is [wire.Unavailable].
func (e *Emergencies) Paused(ctx context.Context, businessType string) (bool, error) {
	held, err := e.Holding(ctx, businessType)
	return held != nil, err
}

// Holding is what holds the callbacks of a business type back: first what holds all of
// them. It is nil where nothing does.
func (e *Emergencies) Holding(ctx context.Context, businessType string) (held *policy.Emergency, err error) {
	for _, one := range []string{"", businessType} {
		if held, err = e.cache.get(ctx, one); err != nil || held != nil {
			break
		}
	}
	return held, err
}

func (e *Emergencies) read(ctx context.Context, businessType string) (*policy.Emergency, error) {
	emergency, held, err := e.current(ctx, businessType)
	if err != nil || !held {
		return nil, err
	}
	return &emergency, nil
}

// current is the emergency of a business type, "" for everything; held reports whether there
// is one.
func (e *Emergencies) current(ctx context.Context, businessType string) (emergency policy.Emergency, held bool, err error) {
	described, err := e.kernel.Describe(ctx, workflows.EmergencyID(businessType), "")
	if wire.CodeOf(err) == wire.NotFound || (err == nil && !kernel.Running(described.GetWorkflowExecutionInfo())) {
		return policy.Emergency{}, false, nil
	}
	if err != nil {
		return policy.Emergency{}, false, err
	}
	emergency, err = emergencyOf(described.GetWorkflowExecutionInfo())
	return emergency, true, err
}

func emergencyOf(info *workflowpb.WorkflowExecutionInfo) (emergency policy.Emergency, err error) {
	err = kernel.ReadMemo(info, workflows.MemoEmergency, "emergency", &emergency)
	return emergency, err
}

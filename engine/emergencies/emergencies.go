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

// Emergencies pause the callbacks of a business type, or of all, and resume them. Each is an
// open workflow without a worker, in force while it is open. So neither call needs a worker,
// and both may be repeated. A cancel cannot end it, and a terminate by any tool resumes.
type Emergencies struct {
	kernel *kernel.Kernel
	cache  *emergencyCache
}

// New returns the emergencies of a namespace. ttl is how long a read one is trusted.
func New(k *kernel.Kernel, ttl time.Duration) *Emergencies {
	e := &Emergencies{kernel: k}
	e.cache = newEmergencyCache(min(ttl, tuning.EmergencyTrusted), e.read)
	return e
}

// Pause pauses what the order names, and returns what of it is now paused. An existing pause
// stays unchanged. The errors are [wire.InvalidRequest] and [wire.Unavailable]. After an
// error a part may be paused, and the order may be repeated.
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
		ID: workflows.EmergencyID(emergency.BusinessType), TaskQueue: workflows.UnpolledQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     map[string]any{workflows.MemoEmergency: emergency},
		// No search attribute: a cancel or terminate of timers by query must not match a pause.
		StaticSummary: "callbacks are paused by " + emergency.Author,
	}, workflows.TypeEmergency)
	return kernel.Translate(err)
}

// Resume resumes what the order names. What is not paused is no error. It returns the pauses
// that still apply: the one of everything, if the order names single types, or those of
// single types, if it names everything. The errors are [wire.InvalidRequest] and
// [wire.Unavailable]. After an error a part may be resumed, and the order may be repeated. A
// failure to read the remaining pauses is no error: the resumption is in force.
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

// held lists the pauses that apply to an order.
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

// listedAndHeld lists what is paused, as far as visibility shows it. It leaves out pauses
// whose end visibility does not show yet.
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

// List lists what is paused now: everything first, then the types as far as visibility shows
// them. The error is [wire.Unavailable].
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

// Paused reports whether the callbacks of a business type are paused, from a cache that is
// at most two seconds old. It needs no worker. The error is [wire.Unavailable].
func (e *Emergencies) Paused(ctx context.Context, businessType string) (bool, error) {
	held, err := e.Holding(ctx, businessType)
	return held != nil, err
}

// Holding is the pause that applies to a business type: first the one of everything. It is
// nil if there is none.
func (e *Emergencies) Holding(ctx context.Context, businessType string) (held *policy.Emergency, err error) {
	for _, one := range []string{"", businessType} {
		if held, err = e.cache.get(ctx, one); err != nil || held != nil {
			break
		}
	}
	return held, err
}

// LastRead is the emergency that holds the callbacks of a business type back, as far as it was read lately; nil for none.
// It makes no call.
func (e *Emergencies) LastRead(businessType string) *policy.Emergency {
	for _, one := range []string{"", businessType} {
		if entry, _ := e.cache.entry(one); entry.held != nil && time.Now().Before(entry.until) {
			return entry.held
		}
	}
	return nil
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

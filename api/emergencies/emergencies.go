package emergencies

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/policy"
)

const emergencyPath = paths.Prefix + "emergency"

// Emergencies pause callbacks, of a business type or of all, and resume them.
type Emergencies interface {
	Pause(ctx context.Context, order policy.EmergencyOrder) (paused []policy.Emergency, err error)
	Resume(ctx context.Context, order policy.EmergencyOrder) (left policy.Held, err error)
	List(ctx context.Context) (paused []policy.Emergency, err error)
}

// listedPolicies lists the policies. Some pause their types.
type listedPolicies interface {
	List(ctx context.Context) ([]policy.Policy, error)
}

// handlers answer the calls that pause callbacks.
type handlers struct {
	emergencies Emergencies
	policies    listedPolicies
}

// Register adds the calls that pause callbacks, and resume them.
func Register(contract calls.Routes, emergencies Emergencies, policies listedPolicies) {
	h, r := handlers{emergencies, policies}, contract.Under(emergencyPath)
	r.Get("", calls.Viewing(calls.Filtered, calls.NoPayloads), h.listEmergencies)
	r.Post("/pause", calls.Operating(calls.Named, calls.NoPayloads).Accepting(calls.Body), h.emergency(h.pauseCallbacks))
	r.Post("/resume", calls.Operating(calls.Named, calls.NoPayloads).Accepting(calls.Body), h.emergency(h.resumeCallbacks))
}

// Body is an order as a client writes it.
type Body struct {
	Everything    *bool    `json:"everything"`
	BusinessTypes []string `json:"business_types"`
	Note          *string  `json:"note"`
}

func (h handlers) emergency(do func(context.Context, policy.EmergencyOrder) (policy.Held, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := requests.ReadQuery(c).Err(); err != nil {
			return err
		}
		body, err := requests.ReadObject(c)
		if err != nil {
			return err
		}
		order, err := readOrder(body)
		if err != nil {
			return err
		}
		if err := permitOrder(c.Request().Context(), order); err != nil {
			return err
		}
		audits.EntryOf(c).SetTypes(order.Everything, order.BusinessTypes)
		order.Author = calls.Author(c)
		left, err := do(c.Request().Context(), order)
		if err != nil {
			return err
		}
		left.Paused = append([]policy.Emergency{}, left.Paused...)
		return c.JSON(http.StatusOK, left)
	}
}

func readOrder(o decode.Object) (policy.EmergencyOrder, error) {
	var body Body
	errs := o.Fill(&body)
	order := policy.EmergencyOrder{Everything: decode.Value(body.Everything), BusinessTypes: body.BusinessTypes, Note: decode.Value(body.Note)}
	errs.Complete(order.Check())
	return order, errs.Err()
}

// permitOrder refuses an order for a business type that the caller may not pause. Everything
// is paused by those who may do everything.
func permitOrder(ctx context.Context, order policy.EmergencyOrder) error {
	if order.Everything {
		return calls.Administering(calls.AllTypes).Permit(ctx, "")
	}
	for _, businessType := range order.BusinessTypes {
		if err := calls.Permit(ctx, businessType); err != nil {
			return err
		}
	}
	return nil
}

func (h handlers) pauseCallbacks(ctx context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	paused, err := h.emergencies.Pause(ctx, order)
	return policy.Held{Paused: paused}, err
}

// resumeCallbacks resumes, and adds to what is left the types of the order that their policies
// pause: resuming those takes a change of the policy. What is left is read after the
// resumption, which no failure of the reading takes back.
func (h handlers) resumeCallbacks(ctx context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	left, err := h.emergencies.Resume(ctx, order)
	if err != nil {
		return policy.Held{}, err
	}
	policies, err := h.policies.List(ctx)
	left.Incomplete = left.Incomplete || err != nil
	for _, listed := range policies {
		if one, held := policy.PausedByPolicy(listed); held && order.Covers(listed.BusinessType) {
			left.Paused = append(left.Paused, one)
		}
	}
	return left, nil
}

// listEmergencies lists what is paused: everything, and the types that the caller may
// see.
func (h handlers) listEmergencies(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	paused, err := h.emergencies.List(c.Request().Context())
	if err != nil {
		return err
	}
	body := policy.Held{Paused: []policy.Emergency{}}
	for _, emergency := range paused {
		if emergency.Everything || calls.Sees(c.Request().Context(), emergency.BusinessType) {
			body.Paused = append(body.Paused, emergency)
		}
	}
	return c.JSON(http.StatusOK, body)
}

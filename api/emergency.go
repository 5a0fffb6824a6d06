package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/policy"
)

const emergencyPath = versionPrefix + "emergency"

// Emergencies pause callbacks, of a business type or of all, and resume them.
type Emergencies interface {
	Pause(ctx context.Context, order policy.EmergencyOrder) (paused []policy.Emergency, err error)
	Resume(ctx context.Context, order policy.EmergencyOrder) (paused []policy.Emergency, err error)
	List(ctx context.Context) (paused []policy.Emergency, err error)
}

func (s *Server) emergencyRoutes(r routes) {
	r.get("", viewing(filtered, noPayloads), s.listEmergencies)
	r.post("/pause", operating(named, noPayloads), s.emergency(func(ctx context.Context, order policy.EmergencyOrder) ([]policy.Emergency, error) {
		return s.emergencies.Pause(ctx, order)
	}))
	r.post("/resume", operating(named, noPayloads), s.emergency(func(ctx context.Context, order policy.EmergencyOrder) ([]policy.Emergency, error) {
		paused, err := s.emergencies.Resume(ctx, order)
		if err != nil {
			return nil, err
		}
		return s.withPausedPolicies(ctx, order, paused)
	}))
}

// emergencyBody is an order as a client writes it.
type emergencyBody struct {
	Everything    *bool    `json:"everything"`
	BusinessTypes []string `json:"business_types"`
	Note          *string  `json:"note"`
}

type emergenciesBody struct {
	Paused []policy.Emergency `json:"paused"`
}

func (s *Server) emergency(do func(context.Context, policy.EmergencyOrder) ([]policy.Emergency, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := readQuery(c).err(); err != nil {
			return err
		}
		body, err := readObject(c)
		if err != nil {
			return err
		}
		order, err := body.emergency()
		if err != nil {
			return err
		}
		if err := permitOrder(c.Request().Context(), order); err != nil {
			return err
		}
		noted(c).emergency(order)
		order.Author = author(c)
		paused, err := do(c.Request().Context(), order)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, emergenciesBody{Paused: append([]policy.Emergency{}, paused...)})
	}
}

func (o object) emergency() (policy.EmergencyOrder, error) {
	var body emergencyBody
	errs := o.fill(&body)
	order := policy.EmergencyOrder{Everything: value(body.Everything), BusinessTypes: body.BusinessTypes, Note: value(body.Note)}
	errs.Complete(order.Check())
	return order, errs.Err()
}

// permitOrder refuses an order for a business type that the caller may not pause. Everything
// is paused by those who may do everything.
func permitOrder(ctx context.Context, order policy.EmergencyOrder) error {
	if order.Everything {
		return administering(allTypes).permit(ctx, "")
	}
	for _, businessType := range order.BusinessTypes {
		if err := permit(ctx, businessType); err != nil {
			return err
		}
	}
	return nil
}

// withPausedPolicies adds the types of an order that their policies pause: resuming them
// takes a change of the policy.
func (s *Server) withPausedPolicies(ctx context.Context, order policy.EmergencyOrder, paused []policy.Emergency) ([]policy.Emergency, error) {
	policies, err := s.policies.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range policies {
		if one, held := policy.PausedByPolicy(p); held && order.Names(p.BusinessType) {
			paused = append(paused, one)
		}
	}
	return paused, nil
}

// listEmergencies lists what is paused: everything, and the types that the caller may
// see.
func (s *Server) listEmergencies(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	paused, err := s.emergencies.List(c.Request().Context())
	if err != nil {
		return err
	}
	body := emergenciesBody{Paused: []policy.Emergency{}}
	for _, emergency := range paused {
		if emergency.Everything || sees(c.Request().Context(), emergency.BusinessType) {
			body.Paused = append(body.Paused, emergency)
		}
	}
	return c.JSON(http.StatusOK, body)
}

// noteOf says what is paused in one line; "" where nothing is. It names nobody: whoever
// asks for readiness has no key.
func noteOf(paused []policy.Emergency) string {
	switch {
	case len(paused) == 0:
		return ""
	case paused[0].Everything:
		return "all callbacks are paused since " + paused[0].Since.String()
	default:
		return fmt.Sprintf("callbacks are paused for %d business types", len(paused))
	}
}

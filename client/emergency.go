package client

import (
	"context"
	"net/http"

	"github.com/wakecall/wakecall/core/policy"
)

const emergencyPath = "/v1/emergency"

// Emergency is the calls that pause callbacks. Each of them may be repeated.
type Emergency struct{ caller *caller }

// EmergencyOrder names what is paused or resumed: everything, or single business types.
type EmergencyOrder struct {
	Everything    bool     `json:"everything,omitempty"`
	BusinessTypes []string `json:"business_types,omitempty"`
	// Note says why.
	Note string `json:"note,omitempty"`
}

// Pause holds callbacks back, within 10 seconds, and returns what of the order is paused.
func (e Emergency) Pause(ctx context.Context, order EmergencyOrder) ([]policy.Emergency, error) {
	return e.call(ctx, http.MethodPost, "/pause", order)
}

// Resume lets callbacks go on, within 10 seconds. It returns what is held back all the same.
func (e Emergency) Resume(ctx context.Context, order EmergencyOrder) (left policy.Held, err error) {
	_, err = e.caller.do(ctx, call{method: http.MethodPost, path: emergencyPath + "/resume", body: order}, &left)
	return left, err
}

// List lists what is paused.
func (e Emergency) List(ctx context.Context) ([]policy.Emergency, error) {
	return e.call(ctx, http.MethodGet, "", nil)
}

func (e Emergency) call(ctx context.Context, method, path string, body any) ([]policy.Emergency, error) {
	var answer struct{ Paused []policy.Emergency }
	_, err := e.caller.do(ctx, call{method: method, path: emergencyPath + path, body: body}, &answer)
	return answer.Paused, err
}

package client

import (
	"context"
	"net/http"

	"github.com/wakecall/wakecall/core/policy"
)

const emergencyPath = "/v1/emergency"

// Emergency pauses and resumes callbacks. Its calls may be repeated.
type Emergency struct{ caller *caller }

// EmergencyOrder names the object of a pause: everything, or single business types.
type EmergencyOrder struct {
	Everything    bool     `json:"everything,omitempty"`
	BusinessTypes []string `json:"business_types,omitempty"`
	// Note is the reason.
	Note string `json:"note,omitempty"`
}

// Pause stops callbacks within 10 seconds, and returns which of the ordered pauses are in force.
func (e Emergency) Pause(ctx context.Context, order EmergencyOrder) ([]policy.Emergency, error) {
	return e.call(ctx, http.MethodPost, "/pause", order)
}

// Resume resumes callbacks within 10 seconds. It returns the pauses that remain.
func (e Emergency) Resume(ctx context.Context, order EmergencyOrder) (left policy.Held, err error) {
	_, err = e.caller.do(ctx, call{method: http.MethodPost, path: emergencyPath + "/resume", body: order}, &left)
	return left, err
}

// List lists the pauses in force.
func (e Emergency) List(ctx context.Context) ([]policy.Emergency, error) {
	return e.call(ctx, http.MethodGet, "", nil)
}

func (e Emergency) call(ctx context.Context, method, path string, body any) ([]policy.Emergency, error) {
	var answer struct{ Paused []policy.Emergency }
	_, err := e.caller.do(ctx, call{method: method, path: emergencyPath + path, body: body}, &answer)
	return answer.Paused, err
}

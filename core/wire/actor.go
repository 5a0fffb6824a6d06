package wire

// Actor is who made a change, as far as Wakecall knows. It travels with the change into
// the histories of Temporal.
type Actor struct {
	Name string `json:"name"`
	// ID is the name that never changes, where that is another one.
	ID string `json:"id,omitzero"`
	// Role is the one that the actor had for what it changed.
	Role string `json:"role,omitzero"`
	// By is by what it has shown who it is.
	By string `json:"by"`
	// Via is through what it was made, where that is not the API itself: console.
	Via string `json:"via,omitzero"`
	// From is the address that the request came from, and RequestID the request's.
	From      string `json:"from,omitzero"`
	RequestID string `json:"request_id,omitzero"`
	// Job is what made the change on its behalf; empty where it did so itself.
	Job string `json:"job,omitzero"`
}

// OnBehalf is the actor as one that a job works for.
func (a *Actor) OnBehalf(job string) *Actor {
	if a == nil {
		return nil
	}
	through := *a
	through.Job = job
	return &through
}

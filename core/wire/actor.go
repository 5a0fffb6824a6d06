package wire

// Actor names the maker of a change, as far as Wakecall knows. It travels with the change into
// the histories of Temporal.
type Actor struct {
	Name string `json:"name"`
	// ID is the name that never changes. It is empty if Name never changes.
	ID string `json:"id,omitzero"`
	// Role is the role that allowed the change.
	Role string `json:"role,omitzero"`
	// By says how the actor proved its identity.
	By string `json:"by"`
	// Via is the way in, such as console; empty for the API itself.
	Via string `json:"via,omitzero"`
	// From is the address of the request, and RequestID its id.
	From      string `json:"from,omitzero"`
	RequestID string `json:"request_id,omitzero"`
	// Job names the job that made the change on the actor's behalf; empty if there was none.
	Job string `json:"job,omitzero"`
}

// OnBehalf returns the actor with the job that works for it.
func (a *Actor) OnBehalf(job string) *Actor {
	if a == nil {
		return nil
	}
	through := *a
	through.Job = job
	return &through
}

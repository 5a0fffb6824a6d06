package workflows

// The ladder of behaviours. A timer carries the number it was booked under
// (timer.Spec.Behaviour) and may be read by the code of years to come, so a
// number is never changed or reused: a new behaviour is added below, with a
// frozen history under testdata, and booked with only after every worker
// knows it.
const (
	// BehaviourInitial: start delay, first attempt as a local activity, every
	// other attempt as an activity that the server paces; changes end a run.
	BehaviourInitial = 1

	// BehaviourNow is the one that new timers are booked with.
	BehaviourNow = BehaviourInitial
)

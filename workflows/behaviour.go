package workflows

// The ladder of behaviours. A timer carries the number it was booked under
// (timer.Spec.Behaviour) and may be read by the code of years to come, so a
// number is never changed or reused. A new behaviour is added below, with
// frozen histories under testdata. It becomes [BehaviourNow] once every worker
// knows it.
const (
	// BehaviourInitial is that of 1.0.0.
	BehaviourInitial = 1

	// BehaviourNow is the one that new timers are booked with, and that a timer goes
	// over to with its next run.
	BehaviourNow = BehaviourInitial
)

package workflows

// The ladder of behaviours. A timer carries the number it was booked under
// (timer.Spec.Behaviour). Code may read it years later, so a number is never changed or
// reused. A new behaviour is added below, with frozen histories under testdata. It becomes
// [BehaviourNow] once every worker knows it.
const (
	// BehaviourInitial is the behaviour of 1.0.0.
	BehaviourInitial = 1

	// BehaviourNow is the behaviour of new timers. An existing timer adopts it with its next
	// run.
	BehaviourNow = BehaviourInitial
)

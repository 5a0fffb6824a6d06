package workflows

import "go.temporal.io/sdk/workflow"

// The ladder of behaviours. A timer carries the number it was booked under
// (timer.Spec.Behaviour) and may be read by the code of years to come, so a
// number is never changed or reused: a new behaviour is added below, with a
// frozen history under testdata, and booked with only after every worker
// knows it.
const (
	// BehaviourInitial: start delay, first attempt as a local activity, every
	// other attempt as an activity that the server paces; changes end a run.
	BehaviourInitial = 1

	// BehaviourLiveRetries: the latest time of a delivery is the workflow's to keep,
	// which asks for the live policy then; an attempt may take as long as any policy
	// allows, and shows signs of life; a delivery that was lost goes on where it was.
	BehaviourLiveRetries = 2

	// BehaviourNow is the one that new timers are booked with, and that a timer goes
	// over to with its next run.
	BehaviourNow = BehaviourLiveRetries
)

// versionLive names the point at which a run that began under
// [BehaviourInitial] goes over to [BehaviourLiveRetries]. It is stored.
const versionLive = "live-retries"

// live reports whether a delivery that begins now is of [BehaviourLiveRetries]. A run
// that was booked before goes over to it unless its delivery began before as well.
func (t *timerRun) live(ctx workflow.Context) bool {
	if t.spec.Behaviour >= BehaviourLiveRetries {
		return true
	}
	return workflow.GetVersion(ctx, versionLive, workflow.DefaultVersion, BehaviourLiveRetries) == BehaviourLiveRetries
}

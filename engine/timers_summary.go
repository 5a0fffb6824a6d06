package engine

import "github.com/wakecall/wakecall/timer"

// maxTarget is how much of a target a summary shows: Temporal takes 400 bytes.
const maxTarget = 200

// summary is what the Web UI says of the first run of a timer. A run that follows, of
// a recurring timer or after a change, has none: Temporal drops it.
func summary(spec timer.Spec) string {
	text := "due " + spec.DueAt.String()
	if spec.Resting() {
		text = "paused"
	}
	target := spec.Target
	if len(target) > maxTarget {
		target = target[:maxTarget] + "..."
	}
	if target != "" {
		text += ", calls " + target
	}
	return text
}

// targetOf is who a timer calls: its own receiver, or the one of its policy today.
func targetOf(own *timer.Callback, policy timer.Policy) string {
	if own != nil && own.URL != "" {
		return own.Target()
	}
	return policy.Callback.Target()
}

package observe

import "github.com/prometheus/client_golang/prometheus"

// Reporter is the metrics of one room. The series of a business type begin and end with the
// type's label.
//
// A series that is born above zero hides its first event: increase and rate see only what
// comes after the first sample. So the series of a label exist, with 0, from when there is
// the label.
type Reporter interface {
	prometheus.Collector
	// Begin makes the series of a label. linked reports whether the type has two links.
	Begin(label string, linked bool)
	// End removes the series of a label.
	End(label string)
}

// Add shows the metrics of a room beside the others. It must come before the first policies
// are listed.
func (t *Telemetry) Add(rooms ...Reporter) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	for _, room := range rooms {
		t.registry.MustRegister(room)
		room.Begin(other, true)
	}
	t.rooms = append(t.rooms, rooms...)
}

// Labelled has a series written under the label of a business type: its own while it has a
// policy, and one that all others share. The label does not end meanwhile.
func (t *Telemetry) Labelled(businessType string, write func(label string)) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	write(t.labels.of(businessType))
}

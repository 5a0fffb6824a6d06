package observe

import "github.com/prometheus/client_golang/prometheus"

// Reporter has the metrics of one room. The series of a business type begin and end with the
// type's label.
//
// A series with a first sample above zero hides its first event, because increase and rate see
// only later changes. So the series of a label start at 0 with the label.
type Reporter interface {
	prometheus.Collector
	// Begin makes the series of a label. linked reports whether the type has two links.
	Begin(label string, linked bool)
	// End removes the series of a label.
	End(label string)
}

// Add registers the metrics of rooms. It must precede the first list of policies.
func (t *Telemetry) Add(rooms ...Reporter) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	for _, room := range rooms {
		t.registry.MustRegister(room)
		room.Begin(other, true)
	}
	t.rooms = append(t.rooms, rooms...)
}

// Labelled writes a series under the label of a business type: its own while it has a policy,
// else a shared one. The label does not end during the write.
func (t *Telemetry) Labelled(businessType string, write func(label string)) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	write(t.labels.label(businessType))
}

package oracle

import "fmt"

// Rest is the state after a run.
type Rest struct {
	// Overdue are the open timers with a past due time.
	Overdue []string
	// Processes are those that lived through the run, before and after it.
	Processes map[string]Growth
}

// Growth is the usage of a process before and after.
type Growth struct {
	Before, After Usage
	// More counts its roles beyond the first.
	More int
}

// Usage is the resource usage of a process.
type Usage struct {
	Goroutines, Descriptors int
	// Memory is the resident set in bytes.
	Memory int
}

// Quiet reports whether the rest does not violate [Quiescence].
func (r Rest) Quiet() bool { return len(quiescence(Run{Rest: r}, nil)) == 0 }

const (
	// spare is the normal variation of a role's connection pools and caches.
	spare = 64
	// mostMemory is more than any process of a test needs.
	mostMemory = 2 << 30
)

// quiescence finds what did not come to rest.
func quiescence(run Run, _ timers) (found []Violation) {
	for _, id := range run.Rest.Overdue {
		found = append(found, Violation{Quiescence, id, "is open although its due time is past"})
	}
	for name, p := range run.Rest.Processes {
		if p.grown(p.Before.Goroutines, p.After.Goroutines) {
			grown := fmt.Sprintf("goroutines grew from %d to %d", p.Before.Goroutines, p.After.Goroutines)
			found = append(found, Violation{Quiescence, name, grown})
		}
		if p.grown(p.Before.Descriptors, p.After.Descriptors) {
			grown := fmt.Sprintf("descriptors grew from %d to %d", p.Before.Descriptors, p.After.Descriptors)
			found = append(found, Violation{Quiescence, name, grown})
		}
		if p.After.Memory > mostMemory {
			found = append(found, Violation{Quiescence, name, fmt.Sprintf("holds %d MiB", p.After.Memory>>20)})
		}
	}
	return found
}

// grown reports growth of more than a twentieth and the spare.
func (g Growth) grown(before, after int) bool { return after > before+before/20+spare*(1+g.More) }

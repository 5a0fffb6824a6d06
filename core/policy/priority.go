package policy

// Weight is the weight of a priority among timers that wait for a worker: each
// priority has twice that of the next lower one. The lowest still has its share: it is
// late under load, and never stuck.
func Weight(priority int) float32 { return float32(int(1) << (MaxPriority - priority)) }

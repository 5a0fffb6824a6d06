package policy

// Weight returns the weight of a priority among timers that wait for a worker. Each priority has
// twice the weight of the next lower one. Under load the lowest is late but never stuck.
func Weight(priority int) float32 { return float32(int(1) << (MaxPriority - priority)) }

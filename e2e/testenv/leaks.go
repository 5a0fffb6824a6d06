package testenv

import (
	"regexp"
	"runtime"
	"strings"
	"time"
)

// ours marks the packages that a stopped environment must have left. Temporal's server runs
// in the same process and leaves its own goroutines, so goleak, used in every other package,
// is of no use here. Workflows are left out: the SDK keeps their coroutines in a cache of
// the whole process.
var ours = regexp.MustCompile(`wakecall/wakecall/(api|engine|activities|worker|internal)[./]`)

// Leaked returns the stacks of our goroutines that are still running, after a moment to end.
func Leaked() (stacks []string) {
	for range 50 {
		if stacks = Running(); len(stacks) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond) // nothing signals the end of a goroutine
	}
	return stacks
}

// Running returns the stacks of our goroutines.
func Running() (stacks []string) {
	buffer := make([]byte, 64<<20)
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if ours.MatchString(stack) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

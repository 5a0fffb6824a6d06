package fault

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// usage is the usage of a process. A restarted process is another one.
type usage struct {
	process int
	oracle.Usage
}

// ours are the processes that report their usage.
var ours = []string{"standalone", "wakecall", "api", "worker"}

// more are the roles of a process beyond its first one: a node is gateway and worker.
var more = map[string]int{"wakecall": 1}

// usages asks the processes that are running.
func (b *bench) usages() map[string]usage {
	found := map[string]usage{}
	for _, name := range ours {
		p := b.living[name]
		if p == nil || p.Ended() {
			continue
		}
		text, err := p.Metrics()
		require.NoError(b.t, err)
		found[name] = usage{p.PID(), oracle.Usage{
			Goroutines: gauge(text, "go_goroutines"), Descriptors: gauge(text, "process_open_fds"),
			Memory: gauge(text, "process_resident_memory_bytes"),
		}}
		require.NotZero(b.t, found[name].Goroutines)
	}
	return found
}

// gauge is the value of a metric without labels.
func gauge(text, name string) int {
	_, rest, _ := strings.Cut(text, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseFloat(value, 64)
	return int(n)
}

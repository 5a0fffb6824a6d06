package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// PeakMemory is the peak memory of the process, in bytes (VmHWM of proc(5)).
func (p *Process) PeakMemory() int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	require.NoError(p.t, err)
	_, after, found := strings.Cut(string(text), "VmHWM:")
	require.True(p.t, found, "it runs")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(p.t, err)
	return kilobytes << 10
}

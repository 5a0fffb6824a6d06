package report

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// Machine is where and when a run was made.
type Machine struct {
	At        time.Time `json:"at"`
	Processor string    `json:"processor"`
	Cores     int       `json:"cores"`
	MemoryMB  uint64    `json:"memory_mb"`
	Kernel    string    `json:"kernel"`
	Go        string    `json:"go"`
	// Revision is the measured commit, with a + if it was changed.
	Revision string `json:"revision,omitempty"`
}

// thisMachine leaves empty what it cannot find.
func thisMachine() Machine {
	m := Machine{At: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Go: runtime.Version(), Revision: revision()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return m
	}
	if processors, err := fs.CPUInfo(); err == nil && len(processors) > 0 {
		m.Processor = processors[0].ModelName
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		m.MemoryMB = *memory.MemTotalBytes >> 20
	}
	return m
}

func (m Machine) lines() []string {
	return []string{fmt.Sprintf("%s: %d cores (%s), %d MB, Linux %s, %s, Wakecall %s",
		m.At.Format(time.RFC3339), m.Cores, m.Processor, m.MemoryMB, m.Kernel, m.Go, m.Revision)}
}

// revision is the revision that Go recorded when it built this program from git.
func revision() (text string) {
	build, _ := debug.ReadBuildInfo()
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			text = setting.Value[:min(12, len(setting.Value))] + text
		case setting.Key == "vcs.modified" && setting.Value == "true":
			text += "+"
		}
	}
	return text
}

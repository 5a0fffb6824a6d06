// Package usage measures the resources of a process and its descendants.
package usage

import (
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is the usage of a tree of processes so far.
type Usage struct {
	// CPU is user and system time by program and role, including ended children.
	CPU map[string]time.Duration
	// Memory is the proportional set size by program and role, in bytes: pages that
	// processes share count once.
	Memory map[string]int64
}

// tick is the unit of processor time in /proc. Linux shows it as 100 Hz on every
// architecture of Go.
const tick = time.Second / 100

// Own measures this process and its descendants.
func Own() (Usage, error) {
	usage := Usage{CPU: map[string]time.Duration{}, Memory: map[string]int64{}}
	family, err := descendants(os.Getpid())
	for _, process := range family {
		usage.add(process)
	}
	return usage, err
}

// Since is the processor time since an earlier moment, by program.
func (u Usage) Since(earlier Usage) map[string]time.Duration {
	spent := map[string]time.Duration{}
	for program, cpu := range u.CPU {
		spent[program] = cpu - earlier.CPU[program]
	}
	return spent
}

// add leaves out processes that ended a moment ago.
func (u Usage) add(process procfs.ProcStat) {
	proc, err := procfs.NewProc(process.PID)
	if err != nil {
		return
	}
	program := name(proc, process.Comm)
	ticks := int(process.UTime) + int(process.STime) + process.CUTime + process.CSTime
	u.CPU[program] += time.Duration(ticks) * tick
	if rollup, err := proc.ProcSMapsRollup(); err == nil {
		u.Memory[program] += int64(rollup.Pss)
	}
}

// name is a program's name, with its only argument if it has one: that is its role.
func name(proc procfs.Proc, program string) string {
	if args, err := proc.CmdLine(); err == nil && len(args) == 2 {
		return program + " " + args[1]
	}
	return program
}

// descendants are a process and everything below it.
func descendants(root int) (family []procfs.ProcStat, err error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]procfs.ProcStat{}
	for _, process := range all {
		stat, err := process.Stat()
		if err != nil {
			continue // it has ended since
		}
		if stat.PID == root {
			family = append(family, stat)
		}
		children[stat.PPID] = append(children[stat.PPID], stat)
	}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i].PID]...)
	}
	return family, nil
}

// Package usage measures what a process and everything it started take.
package usage

import (
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is what a tree of processes has taken so far.
type Usage struct {
	// CPU is user and system time by program and role, that of ended children included.
	CPU map[string]time.Duration
	// Memory is the proportional set size by program and role, in bytes: pages that
	// processes share are counted once.
	Memory map[string]int64
}

// tick is the unit of processor time in /proc; Linux shows it as 100 Hz on
// every architecture that Go runs on.
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

// Since is the processor time that was taken since an earlier moment, by program.
func (u Usage) Since(earlier Usage) map[string]time.Duration {
	spent := map[string]time.Duration{}
	for program, cpu := range u.CPU {
		spent[program] = cpu - earlier.CPU[program]
	}
	return spent
}

// add leaves out what ended a moment ago.
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

// name is a program's, with its only argument if it has one: that is the role
// that it plays.
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

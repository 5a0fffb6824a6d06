package usage

import (
	"runtime"
	"time"

	"github.com/prometheus/procfs"
)

// Others measures the machine share of other programs during a measurement: figures taken
// beside other work say little.
type Others struct {
	begin time.Time
	busy  time.Duration
	own   time.Duration
}

// Watch begins.
func Watch() (o Others, err error) {
	o.begin = time.Now()
	if o.busy, err = machine(); err != nil {
		return o, err
	}
	o.own, err = ownCPU()
	return o, err
}

// Share is the part of the machine, from 0 to 1, that others have used since Watch.
func (o Others) Share() (float64, error) {
	now, err := Watch()
	if err != nil {
		return 0, err
	}
	others := (now.busy - o.busy) - (now.own - o.own)
	whole := now.begin.Sub(o.begin) * time.Duration(runtime.NumCPU())
	return max(0, float64(others)/float64(whole)), nil
}

// machine is the time that all processors were busy, since the machine came up;
// stolen by a hypervisor counts as busy.
func machine() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, err
	}
	all := stat.CPUTotal
	seconds := all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ + all.Steal
	return time.Duration(seconds * float64(time.Second)), nil
}

func ownCPU() (sum time.Duration, err error) {
	own, err := Own()
	for _, cpu := range own.CPU {
		sum += cpu
	}
	return sum, err
}

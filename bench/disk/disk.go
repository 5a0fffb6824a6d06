package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wakecall/wakecall/bench/stage"
)

// Disk is a mounted disk.
type Disk struct {
	// Dir is its directory.
	Dir   string
	image string
}

const (
	// size is the size of a disk in bytes. Its file has holes where nothing was written.
	size = 2 << 30
	// FS_IOC_SHUTDOWN ends all writes of a file system. With noFlush not even the journal is
	// written.
	shutdown = 0x8004587d
	noFlush  = 2
	// busyTime is how long the killed processes may keep the disk.
	busyTime  = 10 * time.Second
	busyEvery = 20 * time.Millisecond
)

// ErrNotRoot is the error of New without the rights to mount.
var ErrNotRoot = errors.New("only root may mount a disk")

// New makes a disk and mounts it, until the end of the stage.
func New(s *stage.Stage) (*Disk, error) {
	if os.Geteuid() != 0 {
		return nil, ErrNotRoot
	}
	d := &Disk{}
	if err := s.Do(func() { d.image, d.Dir = filepath.Join(s.TempDir(), "disk"), s.TempDir() }); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Truncate(d.image, size); err != nil {
		return nil, err
	}
	if err := run("mkfs.ext4", "-q", "-m", "0", d.image); err != nil {
		return nil, err
	}
	s.Cleanup(func() { _ = unix.Unmount(d.Dir, unix.MNT_DETACH) })
	return d, d.mount()
}

func (d *Disk) mount() error { return run("mount", "-o", "loop", d.image, d.Dir) }

func run(program string, args ...string) error {
	output, err := exec.CommandContext(context.Background(), program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return nil
}

// Sync writes everything to the disk.
func (d *Disk) Sync() error { return d.on(unix.Syncfs) }

// Cut cuts the power and turns it on again. The processes that use the disk must be killed before.
func (d *Disk) Cut() error {
	if err := d.on(func(fd int) error { return unix.IoctlSetPointerInt(fd, shutdown, noFlush) }); err != nil {
		return err
	}
	if err := d.unmount(); err != nil {
		return err
	}
	return d.mount()
}

// unmount waits for the processes that end.
func (d *Disk) unmount() (err error) {
	end := time.Now().Add(busyTime)
	look := time.NewTicker(busyEvery)
	defer look.Stop()
	for time.Now().Before(end) {
		if err = unix.Unmount(d.Dir, 0); !errors.Is(err, unix.EBUSY) {
			return err
		}
		<-look.C
	}
	return err
}

// on does something to the file system.
func (d *Disk) on(do func(fd int) error) error {
	dir, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	return errors.Join(do(int(dir.Fd())), dir.Close())
}

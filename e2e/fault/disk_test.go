package fault

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// smallDisk is a directory of the test on a separate small disk, if allowed.
func smallDisk(t *testing.T) (dir string) {
	if os.Getuid() != 0 {
		return t.TempDir()
	}
	return newDisk(t, scaled(512, 64)) // a herd of 10,000 takes 200 MB
}

// newDisk mounts a disk of a size, which only root may.
func newDisk(t *testing.T, megabytes int) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wakecall-disk-") //nolint:usetesting // the user of PostgreSQL may not enter t.TempDir
	require.NoError(t, err)
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=755", megabytes)), "a small disk needs root")
	t.Cleanup(func() {
		require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
		require.NoError(t, os.Remove(dir))
	})
	return dir
}

// fill takes all free space of a disk, and space that becomes free, until it must free it.
func (b *bench) fill(dir string) (free func()) {
	path := filepath.Join(dir, "filler")
	file, err := os.Create(path)
	require.NoError(b.t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		block := make([]byte, 1<<20)
		for {
			n, err := file.Write(block)
			if err != nil && len(block) > 1 {
				block = block[:len(block)/2]
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(len(block)/(n+1)) * time.Millisecond): // longer once it is full
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		require.NoError(b.t, errors.Join(file.Close(), os.Remove(path)))
	}
}

// awaitRefused waits until the fault has an effect: adds are answered 503. A store has some
// room left in its files.
func (b *bench) awaitRefused(l *load.Load) {
	b.t.Helper()
	before := refused(l)
	require.Eventually(b.t, func() bool { return refused(l) > before }, time.Minute, 50*time.Millisecond, "the disk is full")
}

func refused(l *load.Load) (adds int) {
	for _, call := range l.Calls() {
		if call.Op == oracle.Add && call.Status == http.StatusServiceUnavailable {
			adds++
		}
	}
	return adds
}

// diskFull needs a deployment on a small disk.
func (s *standalone) diskFull() {
	if os.Getuid() != 0 {
		s.t.Skip("a small disk needs root")
	}
	s.run(trial{fault: "disk full under SQLite", plan: busy(scaled(750, 300)), strike: func(l *load.Load) {
		for range scaled(2, 1) {
			s.awaitHeld()
			// The process lives, but it cannot record what it did in these moments.
			f := s.breaks(true)
			free := s.fill(s.deployment.Dir)
			s.awaitRefused(l)
			s.pause(time.Duration(scaled(10, 2)) * time.Second)
			s.heals(f)
			free()
			require.False(s.t, s.living["standalone"].Ended(), "it recovers by itself")
			s.pause(5 * time.Second)
		}
	}})
}

// PostgreSQL panics when it cannot write its log, and is started again once
// there is room.
func TestDiskFullUnderPostgres(t *testing.T) {
	longOnly(t)
	for _, of := range forms {
		t.Run(of.name, func(t *testing.T) { diskFullUnderPostgres(t, of) })
	}
}

func diskFullUnderPostgres(t *testing.T, of form) {
	dir := newDisk(t, 256)
	own := t.TempDir() // the others' stays unchanged
	require.NotContains(t, own, dir)
	t.Setenv("TMPDIR", dir) // the place of the cluster
	p := newProduction(t, of, process.Direct)
	p.run(trial{fault: "disk full under PostgreSQL", plan: busy(750), strike: func(l *load.Load) {
		for range 2 {
			p.awaitHeld()
			f := p.breaks(true)
			free := p.fill(dir)
			p.awaitRefused(l)
			p.pause(10 * time.Second)
			p.heals(f)
			free()
			if p.living["postgres"].Ended() {
				p.revive("postgres")
			}
			p.pause(5 * time.Second)
		}
	}})
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wakecall/wakecall/core/health"
)

// leastFree is how much of the disk must be free. SQLite needs room to write a change beside the
// database before it is part of it.
const leastFree = 256 << 20

const mebibyte = 1 << 20

// checkDisk finds how large the data directory is, and how much of its disk is free.
func (s settings) checkDisk(context.Context) health.Check {
	check := health.Check{Name: "disk", Status: health.OK}
	size, err := sizeOf(s.DataDir)
	var disk syscall.Statfs_t
	if err == nil {
		err = syscall.Statfs(s.DataDir, &disk)
	}
	if err != nil {
		check.Status, check.Detail = health.Unknown, "The disk of the data directory cannot be read: "+err.Error()
		return check
	}
	free := disk.Bavail * uint64(disk.Bsize)
	check.Detail = fmt.Sprintf("%s has %d MiB, and %d MiB of its disk are free.", s.DataDir, size/mebibyte, free/mebibyte)
	if free < leastFree {
		check.Status = health.Failing
		check.Detail += fmt.Sprintf(" Make room: at least %d MiB must be free.", leastFree/mebibyte)
	}
	return check
}

// sizeOf returns the bytes of the files in a directory.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		is, err := entry.Info()
		if os.IsNotExist(err) { // a log of SQLite comes and goes
			return nil
		}
		if err == nil {
			size += is.Size()
		}
		return err
	})
	return size, err
}

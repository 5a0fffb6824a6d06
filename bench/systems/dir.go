package systems

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// dirCounters returns the counters of a store with its files in a directory.
func dirCounters(dir string) (c Counters, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return ignoreGone(err)
		}
		c.Bytes += info.Size()
		return nil
	})
	return c, err
}

// ignoreGone ignores the error of a file that was removed a moment ago.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

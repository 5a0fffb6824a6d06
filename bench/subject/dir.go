package subject

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// dirCounters are those of a store that keeps its files in a directory.
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

// ignoreGone takes no offence at a file that was removed a moment ago.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
)

// File is a [Sink] that writes to a file, behind what stands there. Whoever rotates it moves
// the file away: the next record begins another one. Beside it stands a journal of the calls
// that are being carried out, so that a call which a crash cut off leaves its record as well.
type File struct {
	*Lines
	out     *appended
	journal *journal
}

// OpenFile opens a file for records, and the journal beside it. What a crash has cut off is
// recorded first, as unknown.
func OpenFile(path string, logger *slog.Logger) (*File, error) {
	out := &appended{path: path}
	if err := out.open(); err != nil {
		return nil, err
	}
	kept, err := openJournal(path + journalSuffix)
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	f := &File{Lines: NewLines(out, logger), out: out, journal: kept}
	if err := f.recover(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// recover records the calls that were being carried out when the process before ended.
func (f *File) recover() error {
	return f.journal.each(func(intent *Record) error {
		if recorded, err := f.out.ends(intent.ID); recorded || err != nil {
			return err
		}
		intent.Outcome = Unknown
		return f.write(intent)
	})
}

// Begin implements [Sink].
func (f *File) Begin(intent *Record) (Open, error) {
	if _, err := f.Lines.Begin(intent); err != nil {
		return nil, err
	}
	slot, err := f.journal.put(intent)
	if err != nil {
		return nil, err
	}
	return openSlot{f, slot}, nil
}

type openSlot struct {
	of   *File
	slot int64
}

// End implements [Open]. The journal keeps a call whose record could not be written.
func (o openSlot) End(record *Record) {
	if o.of.write(record) == nil {
		o.of.journal.clear(o.slot)
	}
}

// Abandon implements [Open].
func (o openSlot) Abandon() { o.of.journal.clear(o.slot) }

// Close implements [Sink].
func (f *File) Close() error {
	err := f.Lines.Close()
	if err == nil { // what is not written stays in the journal
		err = f.journal.empty()
	}
	return errors.Join(err, f.journal.Close(), f.out.Close())
}

// appended writes behind the end of the file that has a path, whichever that is by now.
type appended struct {
	path string
	file *os.File
	is   os.FileInfo
}

// permissions of what tells who did what: for the owner, and a group that reads it.
const permissions = 0o640

func (a *appended) open() error {
	file, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, permissions)
	if err != nil {
		return err
	}
	is, err := file.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", a.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	_ = a.Close()
	a.file, a.is = file, is
	return nil
}

// lookBack is how much of the end of a file is searched for the record of a call that the
// journal still has: it was written in the last moment of the process before.
const lookBack = 4 << 20

// ends is whether a record stands near the end of the file.
func (a *appended) ends(id string) (bool, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	is, err := file.Stat()
	if err != nil {
		return false, err
	}
	tail, err := io.ReadAll(io.NewSectionReader(file, max(0, is.Size()-lookBack), lookBack))
	return bytes.Contains(tail, []byte(strconv.Quote(id))), err
}

// Write implements [io.Writer].
func (a *appended) Write(line []byte) (int, error) {
	if now, err := os.Stat(a.path); err != nil || !os.SameFile(now, a.is) {
		if err := a.open(); err != nil {
			return 0, err
		}
	}
	return a.file.Write(line)
}

// Close implements [io.Closer].
func (a *appended) Close() error {
	if a.file == nil {
		return nil
	}
	file := a.file
	a.file = nil
	return file.Close()
}

package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"

	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/internal/tuning"
)

// File is a [Sink] that appends to a file. To rotate it, move the file away: the next record
// begins another one. A journal of the calls in progress lies beside it, so that a call cut off
// by a crash leaves its record too.
type File struct {
	*Lines
	out     *appended
	journal *journal
}

// OpenFile opens a file for records, and the journal beside it. It first records the calls cut
// off by a crash, as unknown.
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

// recover records the calls that were in progress when the previous process ended.
func (f *File) recover() error {
	return f.journal.each(func(intent *trail.Record) error {
		if recorded, err := f.out.ends(intent.ID); recorded || err != nil {
			return err
		}
		intent.Outcome = trail.Unknown
		return f.write(intent)
	})
}

// Begin implements [Sink].
func (f *File) Begin(intent *trail.Record) (Open, error) {
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

// End implements [Open]. The journal retains a call whose record could not be written.
func (o openSlot) End(record *trail.Record) {
	if o.of.write(record) == nil {
		o.of.journal.clear(o.slot)
	}
}

// Abandon implements [Open].
func (o openSlot) Abandon() { o.of.journal.clear(o.slot) }

// Close implements [Sink].
func (f *File) Close() error {
	err := f.Lines.Close()
	if err == nil { // unwritten records stay in the journal
		err = f.journal.empty()
	}
	return errors.Join(err, f.journal.Close(), f.out.Close())
}

// appended appends to the file that has a path at present.
type appended struct {
	path string
	file *os.File
	is   os.FileInfo
}

// permissions of audit files: for the owner, and a group that reads them.
const permissions = 0o640

func (a *appended) open() error {
	file, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, permissions)
	if err != nil {
		return err
	}
	is, err := file.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", a.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	_ = a.Close()
	a.file, a.is = file, is
	return nil
}

// ends reports whether a record is near the end of the file. That of a call in the journal was written
// in the last moment of the previous process.
func (a *appended) ends(id string) (bool, error) {
	end, err := tail(a.path)
	return bytes.Contains(end, []byte(strconv.Quote(id))), err
}

// tail returns the whole lines at the end of a file, of at most [tuning.AuditLoaded] bytes.
func tail(path string) (text []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	is, err := file.Stat()
	if err != nil {
		return nil, err
	}
	skipped := max(0, is.Size()-tuning.AuditLoaded)
	text, err = io.ReadAll(io.NewSectionReader(file, skipped, tuning.AuditLoaded))
	if skipped > 0 { // it begins within a line
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
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

package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/core/trail"
)

// journalSuffix ends the name of the journal beside a file of records.
const journalSuffix = ".open"

// slotLen is the length of a slot in the journal, in bytes.
const slotLen = 2048

// journal holds the calls in progress, each in a slot of its file. A slot that begins with a
// brace is taken.
type journal struct {
	file *os.File

	mu sync.Mutex
	// free are the free slots, and end is the offset of the next new one.
	free []int64
	end  int64
}

// openJournal opens a journal. It refuses one in use by another process.
func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, permissions)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another process writes to it: each process needs its own file: %w", path, err), file.Close())
	}
	return &journal{file: file}, nil
}

// each calls see for each call in the journal, and clears it.
func (j *journal) each(see func(*trail.Record) error) error {
	slot := make([]byte, slotLen)
	for at := int64(0); ; at += slotLen {
		n, err := j.file.ReadAt(slot, at)
		if n == 0 && errors.Is(err, io.EOF) {
			return j.file.Truncate(0)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var intent trail.Record
		if slot[0] != '{' || json.Unmarshal(bytes.TrimRight(slot[:n], " \n\x00"), &intent) != nil {
			continue // the call was ended, or a crash tore its slot before it began
		}
		if err := see(&intent); err != nil {
			return err
		}
	}
}

// put writes a call, and returns its slot.
func (j *journal) put(intent *trail.Record) (slot int64, err error) {
	text, err := json.Marshal(intent)
	if err != nil {
		return 0, err
	}
	if len(text) >= slotLen {
		short := *intent
		short.Target = trail.Target{BusinessType: intent.Target.BusinessType}
		if text, err = json.Marshal(short); err != nil || len(text) >= slotLen {
			return 0, errors.Join(err, errors.New("the note of a call is too long"))
		}
	}
	note := slices.Concat(text, bytes.Repeat([]byte(" "), slotLen-len(text)-1), []byte("\n"))
	slot = j.allocate()
	if _, err := j.file.WriteAt(note, slot); err != nil {
		j.release(slot)
		return 0, err
	}
	return slot, nil
}

func (j *journal) allocate() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last := len(j.free) - 1; last >= 0 {
		slot := j.free[last]
		j.free = j.free[:last]
		return slot
	}
	slot := j.end
	j.end += slotLen
	return slot
}

func (j *journal) release(slot int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.free = append(j.free, slot)
}

// clear marks a call as ended. A slot that cannot be cleared is left: the call is recorded
// twice, rather than not at all.
func (j *journal) clear(slot int64) {
	if _, err := j.file.WriteAt([]byte(" "), slot); err == nil {
		j.release(slot)
	}
}

// empty truncates the journal, unless a call is in progress.
func (j *journal) empty() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if int64(len(j.free))*slotLen < j.end {
		return nil
	}
	return j.file.Truncate(0)
}

// Close implements [io.Closer].
func (j *journal) Close() error { return j.file.Close() }

package witness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"
)

// journal is a file of JSON lines. Lines written at the same time share one sync.
type journal struct {
	file  *os.File
	size  atomic.Int64 // the bytes of whole lines that are on the disk
	lines chan line
	done  chan struct{}
}

type line struct {
	text   []byte
	synced chan error
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, lines: make(chan line), done: make(chan struct{})}
	go j.write()
	return j, nil
}

// append returns once the value is on the disk.
func (j *journal) append(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	l := line{append(text, '\n'), make(chan error, 1)}
	j.lines <- l
	return <-l.synced
}

// close must come after the last append has returned.
func (j *journal) close() error {
	close(j.lines)
	<-j.done
	return j.file.Close()
}

func (j *journal) write() {
	defer close(j.done)
	for first := range j.lines {
		batch := j.gather(first)
		var text bytes.Buffer
		for _, l := range batch {
			text.Write(l.text)
		}
		n, err := j.file.Write(text.Bytes())
		if err == nil {
			err = j.file.Sync()
		}
		if err == nil {
			j.size.Add(int64(n))
		}
		for _, l := range batch {
			l.synced <- err
		}
	}
}

// gather takes the waiting lines along with the first line.
func (j *journal) gather(first line) []line {
	batch := []line{first}
	for {
		select {
		case l, ok := <-j.lines:
			if !ok {
				return batch
			}
			batch = append(batch, l)
		default:
			return batch
		}
	}
}

// readJournal calls a function for every line of the first size bytes: behind them a line may be half written.
func readJournal[T any](path string, size int64, each func(T)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for decoder := json.NewDecoder(io.LimitReader(file, size)); ; {
		var value T
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		each(value)
	}
}

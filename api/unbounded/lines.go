package unbounded

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MediaTypeNDJSON is the media type of lines of JSON.
const MediaTypeNDJSON = "application/x-ndjson"

// ErrLongLine is the error of a line that is longer than one may be.
var ErrLongLine = errors.New("the line is too long")

// Lines reads a text line by line. It holds one line, however long the text is.
type Lines struct {
	in      *bufio.Reader
	longest int
	// Number is the number of the line that was read last, from 1.
	Number int
}

// NewLines reads lines of at most so many bytes, without their ends.
func NewLines(in io.Reader, longest int) *Lines {
	const ends = len("\r\n") + 1 // and one byte in which a longer line shows
	return &Lines{in: bufio.NewReaderSize(in, longest+ends), longest: longest}
}

// Next is the next line that is not blank, without the white space around it, until the
// line after it is read. Its error is [io.EOF] behind the last line, [ErrLongLine] for a
// line that was passed over, and what kept the text from being read.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.Number++
			return nil, l.pass()
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		l.Number++
		line = bytes.Trim(line, " \t\r\n")
		if len(line) > l.longest {
			return nil, ErrLongLine
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

// pass reads on to the end of a line.
func (l *Lines) pass() error {
	for {
		switch _, err := l.in.ReadSlice('\n'); {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return ErrLongLine
		default:
			return err
		}
	}
}

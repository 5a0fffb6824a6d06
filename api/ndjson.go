package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLongLine is the error of a line that is longer than one may be.
var errLongLine = errors.New("the line is too long")

// lines reads a text line by line. It holds one line, however long the text is.
type lines struct {
	in      *bufio.Reader
	longest int
	// number is that of the line which was read last, from 1.
	number int
}

// newLines reads lines of at most so many bytes, without their ends.
func newLines(in io.Reader, longest int) *lines {
	const ends = len("\r\n") + 1 // and one byte in which a longer line shows
	return &lines{in: bufio.NewReaderSize(in, longest+ends), longest: longest}
}

// next is the next line that is not blank, without the white space around it, until the
// line after it is read. Its error is [io.EOF] behind the last line, [errLongLine] for a
// line that was passed over, and what kept the text from being read.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.number++
			return nil, l.pass()
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		l.number++
		line = bytes.Trim(line, " \t\r\n")
		if len(line) > l.longest {
			return nil, errLongLine
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

// pass reads on to the end of a line.
func (l *lines) pass() error {
	for {
		switch _, err := l.in.ReadSlice('\n'); {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return errLongLine
		default:
			return err
		}
	}
}

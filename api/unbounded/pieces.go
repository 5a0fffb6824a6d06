package unbounded

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/tuning"
)

// A request or an answer of any length cannot be bounded in time as a whole. Each piece
// of it has as much time as the whole of another one.

// Reader reads a body of any length.
type Reader struct {
	in      io.Reader
	control *http.ResponseController
}

// NewReader returns a reader of the body of a request.
func NewReader(c echo.Context) Reader {
	return Reader{c.Request().Body, http.NewResponseController(c.Response())}
}

// Read implements [io.Reader].
func (r Reader) Read(p []byte) (int, error) {
	if err := supported(r.control.SetReadDeadline(time.Now().Add(tuning.ReadTimeout))); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// Writer writes an answer of any length.
type Writer struct {
	out     io.Writer
	control *http.ResponseController
}

// NewWriter returns a writer of an answer.
func NewWriter(c echo.Context) Writer {
	return Writer{c.Response(), http.NewResponseController(c.Response())}
}

// Write implements [io.Writer].
func (s Writer) Write(p []byte) (int, error) {
	if err := s.ExtendDeadline(); err != nil {
		return 0, err
	}
	return s.out.Write(p)
}

// ExtendDeadline gives what is written next the time of an answer.
func (s Writer) ExtendDeadline() error {
	return supported(s.control.SetWriteDeadline(time.Now().Add(tuning.WriteSlack)))
}

// supported is the error of a deadline, unless there is no connection to have one.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

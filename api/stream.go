package api

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

// receiver reads a body of any length.
type receiver struct {
	in      io.Reader
	control *http.ResponseController
}

func receiverOf(c echo.Context) receiver {
	return receiver{c.Request().Body, http.NewResponseController(c.Response())}
}

// Read implements [io.Reader].
func (r receiver) Read(p []byte) (int, error) {
	if err := supported(r.control.SetReadDeadline(time.Now().Add(tuning.ReadTimeout))); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// sender writes an answer of any length.
type sender struct {
	out     io.Writer
	control *http.ResponseController
}

func senderOf(c echo.Context) sender {
	return sender{c.Response(), http.NewResponseController(c.Response())}
}

// Write implements [io.Writer].
func (s sender) Write(p []byte) (int, error) {
	if err := s.allow(); err != nil {
		return 0, err
	}
	return s.out.Write(p)
}

// allow gives what is written next the time of an answer.
func (s sender) allow() error {
	return supported(s.control.SetWriteDeadline(time.Now().Add(tuning.WriteSlack)))
}

// supported is the error of a deadline, unless there is no connection to have one.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

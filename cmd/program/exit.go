package program

import (
	"context"
	"errors"
	"net/http"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/internal/errtype"
)

// The exit codes; docs/cli.md explains them to users.
const (
	// ExitDone means complete success.
	ExitDone = 0
	// ExitFailure means partial success, a declined question, or a local failure.
	ExitFailure = 1
	// ExitUsage means a usage error: no call was made.
	ExitUsage = 2
	// ExitNotFound means that there is no such timer, policy, job or dispatch.
	ExitNotFound = 3
	// ExitRefused means that Wakecall refused the call.
	ExitRefused = 4
	// ExitUnavailable means that Wakecall does not answer, or asks for a later try.
	ExitUnavailable = 5
	// ExitUnwritten means success, but the answer could not be written.
	ExitUnwritten = 6
	// ExitInterrupted means that a signal ended the command; shells use the same number.
	ExitInterrupted = 130
)

// wrong is a usage error.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// Wrong marks a usage error: no call was made.
func Wrong(err error) error { return wrong{err} }

// partial is an error after partial success.
type partial struct{ error }

func (p partial) Unwrap() error { return p.error }

// Partial marks an error after partial success, or a declined question.
func Partial(err error) error { return partial{err} }

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	problem, refused := errors.AsType[*client.Problem](err)
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errtype.Is[wrong](err):
		return ExitUsage
	case errtype.Is[partial](err):
		return ExitFailure
	case client.Unavailable(err):
		return ExitUnavailable
	case refused && problem.Status == http.StatusNotFound:
		return ExitNotFound
	case refused:
		return ExitRefused
	default:
		return ExitFailure
	}
}

package program

import (
	"context"
	"errors"
	"net/http"

	"github.com/wakecall/wakecall/client"
)

// The exit codes; docs/cli.md explains them to users.
const (
	// ExitDone says that all of it was done.
	ExitDone = 0
	// ExitFailure says that it was done in part, was declined, or failed at this end.
	ExitFailure = 1
	// ExitUsage says that the call is wrong: nothing was asked.
	ExitUsage = 2
	// ExitNotFound says that there is no such timer, policy, job or dispatch.
	ExitNotFound = 3
	// ExitRefused says that Wakecall refused it, as it stands.
	ExitRefused = 4
	// ExitUnavailable says that Wakecall does not answer, or asks to try again later.
	ExitUnavailable = 5
	// ExitUnwritten says that it was done, and that its answer could not be written.
	ExitUnwritten = 6
	// ExitInterrupted says that a signal ended it; shells use the same number.
	ExitInterrupted = 130
)

// wrong is an error of the call itself.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// Wrong marks an error of the call itself: nothing was asked of Wakecall.
func Wrong(err error) error { return wrong{err} }

// partial is an error of what was done in part.
type partial struct{ error }

func (p partial) Unwrap() error { return p.error }

// Partial marks an error of what was done in part, or was declined.
func Partial(err error) error { return partial{err} }

// exitCode is the exit code for what a command returned.
func exitCode(err error) int {
	problem, refused := errors.AsType[*client.Problem](err)
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case is[wrong](err):
		return ExitUsage
	case is[partial](err):
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

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

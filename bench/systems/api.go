package systems

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// answerTimeout is longer than the longest batch takes.
const answerTimeout = 2 * time.Minute

// newAPI returns a client that makes each call once: failures are counted.
func newAPI(at address) *client.Client {
	transport := &http.Transport{MaxIdleConns: 2 * jobs, MaxIdleConnsPerHost: 2 * jobs}
	return client.New(client.Options{URL: at.api, Key: at.key, HTTP: &http.Client{Timeout: answerTimeout, Transport: transport}, Tries: 1})
}

// effect is the answer to a change.
func effect(_ timer.View, pending bool, err error) (Answer, error) {
	problem, refused := errors.AsType[*client.Problem](err)
	switch {
	case refused && problem.Status == http.StatusConflict:
		return subject.TooLate, nil
	case err != nil:
		return "", err
	case pending:
		return subject.Pending, nil
	default:
		return subject.Done, nil
	}
}

// unsupported separates a field that this version does not know from a fault.
func unsupported(err error) error {
	problem, refused := errors.AsType[*client.Problem](err)
	if !refused {
		return err
	}
	for _, fault := range problem.Errors {
		if fault.Code == wire.CodeUnknownField {
			return fmt.Errorf("%w by this version: %s", subject.ErrUnsupported, fault.Pointer)
		}
	}
	return err
}

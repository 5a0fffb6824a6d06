package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/client"
)

// refusal is a policy that Wakecall does not take, with every reason.
type refusal struct {
	businessType string
	problem      *client.Problem
}

func (r refusal) Unwrap() error { return r.problem }

func (r refusal) Error() string {
	if len(r.problem.Errors) == 0 {
		return r.businessType + ": " + r.problem.Detail
	}
	lines := make([]string, len(r.problem.Errors))
	for i, fieldErr := range r.problem.Errors {
		lines[i] = r.businessType + ": " + fieldErr.Pointer + " " + fieldErr.Detail
	}
	return strings.Join(lines, "\n")
}

// ofValues reports whether the values of the policy are why. Else no other policy would
// fare better.
func (r refusal) ofValues() bool {
	return len(r.problem.Errors) > 0 || r.problem.Status == http.StatusBadRequest || r.problem.Status == http.StatusRequestEntityTooLarge
}

// dryRun asks what a policy would change. Its error is a refusal, or that
// Wakecall could not be asked.
func dryRun(ctx context.Context, wakecall *client.Client, p policy) (client.Planned, error) {
	planned, err := wakecall.Policies.Plan(ctx, p.businessType, p.body)
	return planned, refused(p.businessType, err)
}

// store puts a policy as it was planned: what was changed meanwhile is left.
func store(ctx context.Context, wakecall *client.Client, p policy, planned client.Planned) error {
	match := client.NoPolicy
	if !planned.Created {
		match = client.Match(planned.Policy.Version - 1)
	}
	_, err := wakecall.Policies.Put(ctx, p.businessType, p.body, match)
	return refused(p.businessType, err)
}

// refused names the policy that an error is about.
func refused(businessType string, err error) error {
	if problem, ok := errors.AsType[*client.Problem](err); ok {
		return refusal{businessType, problem}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", businessType, err)
	}
	return err
}

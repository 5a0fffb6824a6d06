package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/client"
)

// refusal is a policy that Wakecall refuses, with every reason.
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

// ofValues reports whether the values of the policy are the reason. Otherwise every policy would
// be refused.
func (r refusal) ofValues() bool {
	return len(r.problem.Errors) > 0 || r.problem.Status == http.StatusBadRequest || r.problem.Status == http.StatusRequestEntityTooLarge
}

// dryRun requests the changes that a policy would make. Its error is a refusal, or that Wakecall
// could not be reached.
func dryRun(ctx context.Context, wakecall *client.Client, p policy) (client.Planned, error) {
	planned, err := wakecall.Policies.Plan(ctx, p.businessType, p.body)
	return planned, refused(p.businessType, err)
}

// store puts a policy as planned. It overwrites no later change.
func store(ctx context.Context, wakecall *client.Client, p policy, planned client.Planned) error {
	match := client.NoPolicy
	if !planned.Created {
		match = client.Match(planned.Policy.Version - 1)
	}
	_, err := wakecall.Policies.Put(ctx, p.businessType, p.body, match)
	return refused(p.businessType, err)
}

// refused names the policy in an error.
func refused(businessType string, err error) error {
	if problem, ok := errors.AsType[*client.Problem](err); ok {
		return refusal{businessType, problem}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", businessType, err)
	}
	return err
}

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/internal/config"
)

// Settings say how to reach Wakecall. The help text is what
// docs/configuration.md says.
type Settings struct {
	URL    string `env:"WAKECALL_URL" envDefault:"http://127.0.0.1:8080" help:"where the API is"`
	APIKey string `env:"WAKECALL_API_KEY" secret:"true" help:"the key that is sent as a bearer token, if the API asks for one"`
}

// Check implements [config.Settings]. A wrong URL is seen when it is called.
func (Settings) Check(*config.Faults) {}

// Client calls that Wakecall.
func (s Settings) Client() *client.Client {
	return client.New(client.Options{URL: s.URL, Key: s.APIKey})
}

// refusal is a policy that Wakecall does not take, with every reason.
type refusal struct {
	businessType string
	reasons      []string
}

func (r refusal) Error() string {
	lines := make([]string, len(r.reasons))
	for i, reason := range r.reasons {
		lines[i] = r.businessType + ": " + reason
	}
	return strings.Join(lines, "\n")
}

// dryRun asks what a policy would change. Its error is a refusal, or that
// Wakecall could not be asked.
func dryRun(ctx context.Context, wakecall *client.Client, p policy) (client.Planned, error) {
	planned, err := wakecall.Policies.Plan(ctx, p.businessType, p.body)
	return planned, told(p.businessType, err)
}

// store puts a policy as it was planned: what was changed meanwhile is left.
func store(ctx context.Context, wakecall *client.Client, p policy, planned client.Planned) error {
	match := client.NoPolicy
	if !planned.Created {
		match = client.Match(planned.Policy.Version - 1)
	}
	_, err := wakecall.Policies.Put(ctx, p.businessType, p.body, match)
	return told(p.businessType, err)
}

// told says what became of a policy. Where its values are wrong that is a refusal;
// else no other policy would fare better.
func told(businessType string, err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("%s: %w", businessType, err)
	case len(problem.FieldErrors) == 0 && problem.Status != http.StatusBadRequest && problem.Status != http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%s: %s", businessType, problem.Detail)
	}
	r := refusal{businessType: businessType}
	for _, fieldErr := range problem.FieldErrors {
		r.reasons = append(r.reasons, fieldErr.Pointer+" "+fieldErr.Detail)
	}
	if len(r.reasons) == 0 {
		r.reasons = []string{problem.Detail}
	}
	return r
}

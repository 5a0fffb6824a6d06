package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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

// callTimeout is above the longest answer of a PUT.
const callTimeout = 30 * time.Second

// maxAnswer is far above the largest policy.
const maxAnswer = 4 << 20

type client struct {
	settings Settings
	http     *http.Client
}

func newClient(settings Settings) client {
	settings.URL = strings.TrimSuffix(settings.URL, "/")
	return client{settings: settings, http: &http.Client{
		Timeout: callTimeout,
		// A key must not follow to where Wakecall is not.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// plan is what a dry run answers.
type plan struct {
	Created bool     `json:"created"`
	Changes []change `json:"changes"`
	Policy  struct {
		Version int `json:"version"`
	} `json:"policy"`
}

// change is one value that differs.
type change struct {
	Pointer string `json:"pointer"`
	From    any    `json:"from"`
	To      any    `json:"to"`
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
func (c client) dryRun(ctx context.Context, p policy) (planned plan, err error) {
	answer, err := c.put(ctx, p, "?dry_run=true", "")
	if err != nil {
		return planned, err
	}
	if err := json.Unmarshal(answer, &planned); err != nil {
		return planned, fmt.Errorf("%s: the answer is not Wakecall's: %w", p.businessType, err)
	}
	return planned, nil
}

// store puts a policy as it was planned: what was changed meanwhile is left.
func (c client) store(ctx context.Context, p policy, planned plan) error {
	match := ""
	if !planned.Created {
		match = strconv.Quote(strconv.Itoa(planned.Policy.Version - 1))
	}
	_, err := c.put(ctx, p, "", match)
	return err
}

func (c client) put(ctx context.Context, p policy, query, match string) ([]byte, error) {
	body, err := json.Marshal(p.body)
	if err != nil {
		return nil, refusal{p.businessType, []string{err.Error()}}
	}
	target := c.settings.URL + "/v1/policies/" + url.PathEscape(p.businessType) + query
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	if c.settings.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.settings.APIKey)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusCreated {
		return answer, nil
	}
	return nil, problemIn(p.businessType, response.StatusCode, answer)
}

// problemIn reads a problem document. Where values are wrong it is a refusal;
// else no other policy would fare better.
func problemIn(businessType string, status int, answer []byte) error {
	var problem struct {
		Detail string `json:"detail"`
		Errors []struct {
			Pointer string `json:"pointer"`
			Detail  string `json:"detail"`
		} `json:"errors"`
	}
	if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("%s: Wakecall answered %d", businessType, status)
	}
	if len(problem.Errors) == 0 && status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return fmt.Errorf("%s: %s", businessType, problem.Detail)
	}
	r := refusal{businessType: businessType}
	for _, fault := range problem.Errors {
		r.reasons = append(r.reasons, fault.Pointer+" "+fault.Detail)
	}
	if len(r.reasons) == 0 {
		r.reasons = []string{problem.Detail}
	}
	return r
}

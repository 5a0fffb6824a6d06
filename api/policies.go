package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/timer"
)

// masked stands for a header value that is not shown. Sent back, it keeps the
// value that is stored.
const masked = "***"

func (s *Server) policies(g *echo.Group) {
	g.GET("", s.listPolicies)
	g.GET("/:type", s.getPolicy)
	g.PUT("/:type", s.putPolicy)
	g.DELETE("/:type", s.deletePolicy)
}

// policyBody is a policy as a client writes it.
type policyBody struct {
	BusinessType   *string         `json:"business_type"`
	Version        *int            `json:"version"` // as read; ignored
	Callback       *timer.Callback `json:"callback"`
	Retry          *timer.Retry    `json:"retry"`
	ExpiresAfter   *timer.Duration `json:"expires_after"`
	SigningSecrets *[]string       `json:"signing_secrets"`
}

func (s *Server) putPolicy(c echo.Context) error {
	businessType, err := pathType(c)
	if err != nil {
		return err
	}
	body, err := readObject(c, maxBody)
	if err != nil {
		return err
	}
	change, err := body.policy(businessType)
	if err != nil {
		return err
	}
	change.Author = author(c)
	if change.IfVersion, change.MustExist, err = ifMatch(c); err != nil {
		return err
	}
	policy, created, err := s.engine.PutPolicy(c.Request().Context(), change)
	if err != nil {
		return err
	}
	if created {
		return answerPolicy(c, http.StatusCreated, policy)
	}
	return answerPolicy(c, http.StatusOK, policy)
}

// policy reads a policy whose type stands in the path.
func (o object) policy(businessType string) (engine.PolicyChange, error) {
	var body policyBody
	faults := o.fill(&body)
	if body.BusinessType != nil && *body.BusinessType != businessType {
		faults.Add("/business_type", timer.CodeConflict, "must be the one in the path")
	}
	policy := timer.Policy{BusinessType: businessType}
	if body.Callback != nil {
		policy.Callback = *body.Callback
		policy.Callback.URL = asciiHost(policy.Callback.URL)
	}
	if body.Retry != nil {
		policy.Retry = *body.Retry
	}
	if body.ExpiresAfter != nil {
		policy.ExpiresAfter = *body.ExpiresAfter
	}
	change := engine.PolicyChange{Policy: policy, KeepSecrets: body.SigningSecrets == nil}
	if body.SigningSecrets != nil {
		change.Policy.SigningSecrets = *body.SigningSecrets
	}
	for name, value := range policy.Callback.Headers {
		if value == masked {
			change.KeepHeaders = append(change.KeepHeaders, name)
		}
	}
	if len(faults) > 0 {
		faults = append(faults, change.Policy.Check()...)
	}
	return change, faults.Err()
}

// ifMatch reads the precondition of a PUT (RFC 9110, section 13.1.1).
func ifMatch(c echo.Context) (version int, mustExist bool, err error) {
	header := strings.TrimSpace(c.Request().Header.Get("If-Match"))
	switch header {
	case "":
		return 0, false, nil
	case "*":
		return 0, true, nil
	}
	text, ok := strings.CutPrefix(header, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	version, err = strconv.Atoi(text)
	if !ok || !closed || err != nil || version < 1 {
		return 0, false, timer.Faults{{Pointer: "If-Match", Code: timer.CodeInvalidParameter,
			Detail: `must be the ETag of the policy, such as "3", or *`}}.Err()
	}
	return version, true, nil
}

func (s *Server) getPolicy(c echo.Context) error {
	businessType, err := pathType(c)
	if err != nil {
		return err
	}
	policy, err := s.engine.StoredPolicy(c.Request().Context(), businessType)
	if err != nil {
		return err
	}
	return answerPolicy(c, http.StatusOK, policy)
}

func (s *Server) listPolicies(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	policies, err := s.engine.Policies(c.Request().Context())
	if err != nil {
		return err
	}
	for i := range policies {
		policies[i] = mask(policies[i])
	}
	return c.JSON(http.StatusOK, map[string]any{"policies": policies})
}

func (s *Server) deletePolicy(c echo.Context) error {
	businessType, err := pathType(c)
	if err != nil {
		return err
	}
	if err := s.engine.DeletePolicy(c.Request().Context(), businessType, author(c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func answerPolicy(c echo.Context, status int, policy timer.Policy) error {
	c.Response().Header().Set("ETag", strconv.Quote(strconv.Itoa(policy.Version)))
	return c.JSON(status, mask(policy))
}

// mask removes what is write-only.
func mask(policy timer.Policy) timer.Policy {
	policy.SigningSecrets = nil
	headers := make(map[string]string, len(policy.Callback.Headers))
	for name := range policy.Callback.Headers {
		headers[name] = masked
	}
	policy.Callback.Headers = headers
	return policy
}

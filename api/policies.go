package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/policies"
)

const policiesPath = versionPrefix + "policies"

// Policies stores what business types are called by.
type Policies interface {
	Put(ctx context.Context, change policies.Change) (policies.Result, error)
	Stored(ctx context.Context, businessType string) (policy.Policy, error)
	List(ctx context.Context) ([]policy.Policy, error)
	Versions(ctx context.Context, businessType string) ([]policies.Version, error)
	Delete(ctx context.Context, deletion policies.Deletion) error
	LiftBackPressure(ctx context.Context, businessType string) error
}

// registerPolicies adds the calls on policies.
func registerPolicies(contract routes, stored Policies, reach delivery.Reach) {
	h := policyHandlers{stored, reach}
	r := contract.under(policiesPath)
	r.get("", viewing(filtered, noPayloads), h.listPolicies)
	one := r.under("/:type")
	one.get("", viewing(inPath, noPayloads), h.getPolicy)
	one.put("", administering(inPath).accepting(aBody|ifMatch|ifNoneMatch), h.putPolicy)
	one.patch("", administering(inPath).accepting(aBody|ifMatch), h.patchPolicy)
	one.delete("", administering(inPath).accepting(ifMatch), h.deletePolicy)
	one.get("/versions", viewing(inPath, noPayloads), h.listVersions)
	one.delete("/back_pressure", administering(inPath), h.liftBackPressure)
}

// policyHandlers answer the calls on policies.
type policyHandlers struct {
	policies Policies
	reach    delivery.Reach
}

// policyBody is a policy as a client writes it. What a client has read and
// sends back, but only Wakecall sets, is ignored.
type policyBody struct {
	BusinessType   *string            `json:"business_type"`
	Callback       *delivery.Callback `json:"callback"`
	Declare        *delivery.Declare  `json:"declare"`
	Retry          *delivery.Retry    `json:"retry"`
	ExpiresAfter   *wire.Duration     `json:"expires_after"`
	SigningSecrets *[]string          `json:"signing_secrets"`
	SecretOverlap  *wire.Duration     `json:"secret_overlap"`
	Limits         *policy.Limits     `json:"limits"`
	Priority       *int               `json:"priority"`
	Paused         *bool              `json:"paused"`
	DiscardAnswers *bool              `json:"discard_answers"`
	Alert          *delivery.Alert    `json:"alert"`
	OnDelivered    *delivery.Alert    `json:"on_delivered"`
	OnFailed       *delivery.Alert    `json:"on_failed"`
	Fallback       *delivery.Fallback `json:"fallback"`
	MinInterval    *wire.Duration     `json:"min_interval"`
	Preload        *wire.Duration     `json:"preload"`
	Reuse          *policy.Reuse      `json:"reuse"`
	TLS            *policy.TLS        `json:"tls"`
	Ack            *delivery.Ack      `json:"ack"`

	MaxBackPressure *wire.Duration `json:"max_back_pressure"`

	Version        jsontext.Value `json:"version"`
	RetiredSecrets jsontext.Value `json:"retired_secrets"`
	BackPressure   jsontext.Value `json:"back_pressure"`
	PausedBy       jsontext.Value `json:"paused_by"`
	PausedAt       jsontext.Value `json:"paused_at"`
}

// plannedBody answers a dry run.
type plannedBody struct {
	Created bool                `json:"created"`
	Changes []policy.Difference `json:"changes"`
	Policy  policy.Policy       `json:"policy"`
}

func (h policyHandlers) putPolicy(c echo.Context) error {
	return h.changePolicy(c, func(businessType string) (policies.Change, error) {
		body, err := readObject(c)
		if err != nil {
			return policies.Change{}, err
		}
		return readPolicy(body, businessType, h.reach, policy.Policy{})
	})
}

// changePolicy handles a change of a policy, however it is written.
func (h policyHandlers) changePolicy(c echo.Context, read func(businessType string) (policies.Change, error)) error {
	businessType, q := pathType(c, "dry_run")
	dryRun := q.flag("dry_run")
	if err := q.err(); err != nil {
		return err
	}
	version, mustExist, err := ifPolicy(c)
	if err != nil {
		return err
	}
	mustBeNew, err := ifNoPolicy(c)
	if err != nil {
		return err
	}
	change, err := read(businessType)
	if err != nil {
		return err
	}
	change.Author, change.DryRun = author(c), dryRun
	change.IfVersion, change.MustExist, change.MustBeNew = version, mustExist, mustBeNew
	result, err := h.policies.Put(c.Request().Context(), change)
	if err == nil {
		record(noted(c), result, dryRun)
	}
	switch {
	case err != nil:
		return err
	case dryRun:
		return c.JSON(http.StatusOK, plannedBody{Created: result.Created, Changes: result.Changes, Policy: mask(result.Policy)})
	case result.Created:
		return answerPolicy(c, http.StatusCreated, result.Policy)
	default:
		return answerPolicy(c, http.StatusOK, result.Policy)
	}
}

// record notes what became of a policy.
func record(e *entry, result policies.Result, dryRun bool) {
	if dryRun || len(result.Changes) == 0 {
		e.planned(result.Policy.Version, result.Changes)
		return
	}
	e.revised(result.Policy.Version, result.Created, result.Changes)
}

// readPolicy reads a policy whose type stands in the path. Addresses that old has as well
// are not judged.
func readPolicy(o object, businessType string, reach delivery.Reach, old policy.Policy) (policies.Change, error) {
	var body policyBody
	errs := append(o.fill(&body), o.zeros(policyZeros)...)
	if body.BusinessType != nil && *body.BusinessType != businessType {
		errs.Add("/business_type", wire.CodeConflict, "must be the one in the path")
	}
	change := policies.Change{
		KeepSecrets: body.SigningSecrets == nil,
		Policy: policy.Policy{
			BusinessType: businessType, Callback: value(body.Callback), Declare: body.Declare, Retry: value(body.Retry),
			ExpiresAfter: value(body.ExpiresAfter), SigningSecrets: value(body.SigningSecrets), SecretOverlap: body.SecretOverlap,
			Limits: value(body.Limits), Priority: value(body.Priority), Paused: value(body.Paused), DiscardAnswers: value(body.DiscardAnswers), Alert: body.Alert,
			OnDelivered: body.OnDelivered, OnFailed: body.OnFailed,
			Fallback:    body.Fallback,
			MinInterval: value(body.MinInterval), Preload: body.Preload, Reuse: value(body.Reuse), TLS: body.TLS, Ack: body.Ack,
			MaxBackPressure: body.MaxBackPressure,
		},
	}
	change.Policy.Callback.URL = asciiHost(change.Policy.Callback.URL)
	asciiHosts(body.Alert, body.OnDelivered, body.OnFailed)
	if body.Retry != nil { // an empty one would pass for one that was left out
		var ladder wire.FieldErrors
		ladder.Under("/retry", body.Retry.Check())
		errs.Complete(ladder)
	}
	change.KeepHeaders = hidden(change.Policy.Callback.Headers)
	if body.Fallback != nil {
		body.Fallback.URL = asciiHost(body.Fallback.URL)
		change.KeepFallbackHeaders = hidden(body.Fallback.Headers)
	}
	if len(errs) > 0 {
		errs.Complete(change.Policy.Check())
		errs.Complete(policy.CheckReach(reach, change.Policy, old))
	}
	return change, errs.Err()
}

// hidden are the headers that were sent back as they are shown.
func hidden(headers map[string]string) (names []string) {
	for name, value := range headers {
		if value == delivery.Hidden {
			names = append(names, name)
		}
	}
	return names
}

func (h policyHandlers) getPolicy(c echo.Context) error {
	businessType, q := pathType(c)
	if err := q.err(); err != nil {
		return err
	}
	policy, err := h.policies.Stored(c.Request().Context(), businessType)
	if err != nil {
		return err
	}
	return answerPolicy(c, http.StatusOK, policy)
}

type policiesBody struct {
	Policies []policy.Policy `json:"policies"`
}

// listPolicies lists every policy that the caller may see, or of these only those that
// hold their type back.
func (h policyHandlers) listPolicies(c echo.Context) error {
	q := readQuery(c, "paused", "back_pressure")
	paused, held := q.flag("paused"), q.flag("back_pressure")
	if err := q.err(); err != nil {
		return err
	}
	policies, err := h.policies.List(c.Request().Context())
	if err != nil {
		return err
	}
	body := policiesBody{Policies: []policy.Policy{}}
	for _, policy := range policies {
		_, isHeld := policy.HeldBack(time.Now())
		if sees(c.Request().Context(), policy.BusinessType) && (!paused || policy.Paused) && (!held || isHeld) {
			body.Policies = append(body.Policies, mask(policy))
		}
	}
	return c.JSON(http.StatusOK, body)
}

type versionsBody struct {
	Versions []policies.Version `json:"versions"`
}

func (h policyHandlers) listVersions(c echo.Context) error {
	businessType, q := pathType(c)
	if err := q.err(); err != nil {
		return err
	}
	versions, err := h.policies.Versions(c.Request().Context(), businessType)
	if err != nil {
		return err
	}
	for i, version := range versions {
		if version.Policy != nil {
			masked := mask(*version.Policy)
			versions[i].Policy = &masked
		}
	}
	return c.JSON(http.StatusOK, versionsBody{Versions: versions})
}

func (h policyHandlers) deletePolicy(c echo.Context) error {
	businessType, q := pathType(c, "timers")
	onOpenTimers := policies.OnOpenTimers(q.values.Get("timers"))
	if !onOpenTimers.Known() {
		q.errs.Add("timers", wire.CodeInvalidParameter, "must be cancel or keep")
	}
	if err := q.err(); err != nil {
		return err
	}
	version, _, err := ifPolicy(c) // where there is none it is 404, with * as without
	if err != nil {
		return err
	}
	noted(c).said("timers", string(onOpenTimers))
	err = h.policies.Delete(c.Request().Context(), policies.Deletion{
		BusinessType: businessType, Author: author(c), OnOpenTimers: onOpenTimers, IfVersion: version,
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (h policyHandlers) liftBackPressure(c echo.Context) error {
	businessType, q := pathType(c)
	if err := q.err(); err != nil {
		return err
	}
	if err := h.policies.LiftBackPressure(c.Request().Context(), businessType); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func answerPolicy(c echo.Context, status int, policy policy.Policy) error {
	c.Response().Header().Set(headerETag, strconv.Quote(strconv.Itoa(policy.Version)))
	return c.JSON(status, mask(policy))
}

// mask removes what is write-only, and back-pressure that is over.
func mask(policy policy.Policy) policy.Policy {
	policy = policy.Mask()
	if _, held := policy.HeldBack(time.Now()); !held {
		policy.BackPressure = nil
	}
	policy.PressureLiftedAt, policy.StreamedUntil, policy.Claims = 0, 0, nil
	return policy
}

package policies

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/policies"
)

const policiesPath = paths.Prefix + "policies"

// Policies stores what business types are called by.
type Policies interface {
	Put(ctx context.Context, change policies.Change) (policies.Result, error)
	Stored(ctx context.Context, businessType string) (policy.Policy, error)
	List(ctx context.Context) ([]policy.Policy, error)
	Versions(ctx context.Context, businessType string) ([]policies.Version, error)
	Delete(ctx context.Context, deletion policies.Deletion) error
	LiftBackPressure(ctx context.Context, businessType string) error
	// Ring sends one test event to a link of a business type, and returns the result.
	Ring(ctx context.Context, businessType string, link delivery.Link) (delivery.TestResult, error)
}

// Register adds the calls on policies.
func Register(contract calls.Routes, stored Policies, reach delivery.Reach) {
	h := handlers{stored, reach}
	r := contract.Under(policiesPath)
	r.Get("", calls.Viewing(calls.Filtered, calls.NoPayloads), h.listPolicies)
	one := r.Under("/:type")
	one.Get("", calls.Viewing(calls.InPath, calls.NoPayloads), h.getPolicy)
	one.Put("", calls.Administering(calls.InPath).Accepting(calls.Body|calls.IfMatch|calls.IfNoneMatch), h.putPolicy)
	one.Patch("", calls.Administering(calls.InPath).Accepting(calls.Body|calls.IfMatch), h.patchPolicy)
	one.Delete("", calls.Administering(calls.InPath).Accepting(calls.IfMatch), h.deletePolicy)
	one.Get("/versions", calls.Viewing(calls.InPath, calls.NoPayloads), h.listVersions)
	one.Post("/test", calls.Operating(calls.InPath, calls.Payloads).Showing(testExamples), h.testPolicy)
	one.Delete("/back_pressure", calls.Administering(calls.InPath), h.liftBackPressure)
}

// policyZeros are the fields of a policy that refuse a zero.
var policyZeros = decode.RefusingZero(policy.Fields())

// handlers answer the calls on policies.
type handlers struct {
	policies Policies
	reach    delivery.Reach
}

// Body is a policy as a client writes it. What a client has read and
// sends back, but only Wakecall sets, is ignored.
type Body struct {
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
	OnTime         *wire.Duration     `json:"on_time"`
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
	SecretsAt      jsontext.Value `json:"secrets_changed_at"`
}

// plannedBody answers a dry run.
type plannedBody struct {
	Created bool                `json:"created"`
	Changes []policy.Difference `json:"changes"`
	Policy  policy.Policy       `json:"policy"`
}

func (h handlers) putPolicy(c echo.Context) error {
	return h.changePolicy(c, func(businessType string) (policies.Change, error) {
		body, err := requests.ReadObject(c)
		if err != nil {
			return policies.Change{}, err
		}
		return Read(body, businessType, h.reach, policy.Policy{})
	}, keepFrom)
}

// keepFrom is the parameter that names the version whose write-only values are kept.
const keepFrom = "keep_from"

// changePolicy handles a change of a policy, however it is written, with parameters of its own.
func (h handlers) changePolicy(c echo.Context, read func(businessType string) (policies.Change, error), own ...string) error {
	businessType, q := requests.BusinessType(c, append(own, "dry_run")...)
	dryRun, from := q.Flag("dry_run"), q.Number(keepFrom, 0, math.MaxInt32)
	if err := q.Err(); err != nil {
		return err
	}
	version, mustExist, err := requests.IfMatchPolicy(c)
	if err != nil {
		return err
	}
	mustBeNew, err := requests.IfNoneMatchPolicy(c)
	if err != nil {
		return err
	}
	change, err := read(businessType)
	if err != nil {
		return err
	}
	change.Author, change.DryRun, change.KeepFrom = calls.Author(c), dryRun, from
	change.IfVersion, change.MustExist, change.MustBeNew = version, mustExist, mustBeNew
	result, err := h.policies.Put(c.Request().Context(), change)
	if err == nil {
		record(audits.EntryOf(c), result, dryRun)
	}
	switch {
	case err != nil && dryRun:
		return wire.OfRead(err)
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

// record adds the outcome of a change to the audit.
func record(e *audits.Entry, result policies.Result, dryRun bool) {
	if dryRun || len(result.Changes) == 0 {
		e.SetPlanned(result.Policy.Version, result.Changes)
		return
	}
	e.SetRevised(result.Policy.Version, result.Created, result.Changes)
}

// Read reads a policy whose type stands in the path. Addresses that old has as well
// are not judged.
func Read(o decode.Object, businessType string, reach delivery.Reach, old policy.Policy) (policies.Change, error) {
	var body Body
	errs := append(o.Fill(&body), o.Zeros(policyZeros)...)
	if body.BusinessType != nil && *body.BusinessType != businessType {
		errs.Complete(wire.FieldErrors{{Pointer: "/business_type", Code: wire.CodeConflict, Detail: "must match the path"}})
	}
	change := policies.Change{
		KeepSecrets: body.SigningSecrets == nil,
		Policy: policy.Policy{
			BusinessType: businessType, Callback: decode.Value(body.Callback), Declare: body.Declare, Retry: decode.Value(body.Retry),
			ExpiresAfter: decode.Value(body.ExpiresAfter), SigningSecrets: decode.Value(body.SigningSecrets), SecretOverlap: body.SecretOverlap,
			Limits: decode.Value(body.Limits), Priority: decode.Value(body.Priority), Paused: decode.Value(body.Paused),
			DiscardAnswers: decode.Value(body.DiscardAnswers), Alert: body.Alert,
			OnDelivered: body.OnDelivered, OnFailed: body.OnFailed,
			Fallback:    body.Fallback,
			MinInterval: decode.Value(body.MinInterval), Preload: body.Preload, OnTime: decode.Value(body.OnTime),
			Reuse: decode.Value(body.Reuse), TLS: body.TLS, Ack: body.Ack,
			MaxBackPressure: body.MaxBackPressure,
		},
	}
	change.Policy.Callback.URL = decode.ASCIIHost(change.Policy.Callback.URL)
	decode.ASCIIHosts(body.Alert, body.OnDelivered, body.OnFailed)
	if body.Retry != nil { // an empty one would pass for one that was left out
		var ladder wire.FieldErrors
		ladder.Under("/retry", body.Retry.Check())
		errs.Complete(ladder)
	}
	change.KeepHeaders = hidden(change.Policy.Callback.Headers)
	if body.Fallback != nil {
		body.Fallback.URL = decode.ASCIIHost(body.Fallback.URL)
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

func (h handlers) getPolicy(c echo.Context) error {
	businessType, q := requests.BusinessType(c)
	if err := q.Err(); err != nil {
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

// listPolicies lists the policies that the caller may see, or only those with their type held
// back.
func (h handlers) listPolicies(c echo.Context) error {
	q := requests.ReadQuery(c, "paused", "back_pressure")
	paused, held := q.Flag("paused"), q.Flag("back_pressure")
	if err := q.Err(); err != nil {
		return err
	}
	policies, err := h.policies.List(c.Request().Context())
	if err != nil {
		return err
	}
	body := policiesBody{Policies: []policy.Policy{}}
	for _, policy := range policies {
		_, isHeld := policy.HeldBack(time.Now())
		if calls.Sees(c.Request().Context(), policy.BusinessType) && (!paused || policy.Paused) && (!held || isHeld) {
			body.Policies = append(body.Policies, mask(policy))
		}
	}
	return c.JSON(http.StatusOK, body)
}

type versionsBody struct {
	Versions []policies.Version `json:"versions"`
}

func (h handlers) listVersions(c echo.Context) error {
	businessType, q := requests.BusinessType(c)
	if err := q.Err(); err != nil {
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

func (h handlers) deletePolicy(c echo.Context) error {
	businessType, q := requests.BusinessType(c, "timers")
	onOpenTimers := policies.OnOpenTimers(q.Values.Get("timers"))
	if !onOpenTimers.Known() {
		q.Errs.Add("timers", wire.CodeInvalidParameter, "must be cancel or keep")
	}
	if err := q.Err(); err != nil {
		return err
	}
	version, _, err := requests.IfMatchPolicy(c) // where there is none it is 404, with * as without
	if err != nil {
		return err
	}
	audits.EntryOf(c).AddField("timers", string(onOpenTimers))
	err = h.policies.Delete(c.Request().Context(), policies.Deletion{
		BusinessType: businessType, Author: calls.Author(c), OnOpenTimers: onOpenTimers, IfVersion: version,
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (h handlers) liftBackPressure(c echo.Context) error {
	businessType, q := requests.BusinessType(c)
	if err := q.Err(); err != nil {
		return err
	}
	if err := h.policies.LiftBackPressure(c.Request().Context(), businessType); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func answerPolicy(c echo.Context, status int, policy policy.Policy) error {
	c.Response().Header().Set(answers.HeaderETag, strconv.Quote(strconv.Itoa(policy.Version)))
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

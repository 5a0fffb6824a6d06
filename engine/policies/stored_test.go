package policies

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/workflows"
)

var orderID = workflows.PolicyID("order")

// vault keeps policies, whose secrets it seals with some keys.
func vault(t *testing.T, on *enginetest.Temporal, keys string) *Policies {
	t.Helper()
	box, err := seal.New(keys)
	require.NoError(t, err)
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	return New(k, Config{TTL: ttl, Box: box})
}

// secretive is a policy with all that is secret.
func secretive() policy.Policy {
	return policy.Policy{
		BusinessType:   "order",
		Callback:       delivery.Callback{Destination: delivery.HTTP("https://orders.test/"), Headers: map[string]string{"Authorization": "Bearer one"}},
		Fallback:       &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP("https://second.test/"), Headers: map[string]string{"X-Key": "Bearer two"}}},
		SigningSecrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	}
}

// What is secret is sealed before it reaches Temporal, and opened by who has the key.
func TestNothingSecretReachesTemporal(t *testing.T) {
	t.Parallel()
	on, key := &enginetest.Temporal{}, seal.NewKey()
	p := vault(t, on, key)
	put, err := p.Put(t.Context(), Change{Policy: secretive(), Author: "ana"})
	require.NoError(t, err)
	require.True(t, put.Created)
	described, err := on.DescribeWorkflowExecution(t.Context(), orderID, "")
	require.NoError(t, err)
	stored := string(described.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoPolicy].GetData())
	for _, secret := range []string{"Bearer one", "Bearer two", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		require.NotContains(t, stored, secret)
	}
	opened, err := p.Policy(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, "Bearer one", opened.Callback.Headers["Authorization"])
	require.Equal(t, "Bearer two", opened.Fallback.Headers["X-Key"])
	require.Equal(t, secretive().SigningSecrets, opened.SigningSecrets)

	rotated, err := vault(t, on, seal.NewKey()+","+key).Policy(t.Context(), "order")
	require.NoError(t, err, "the old key beside the new one opens it")
	require.Equal(t, opened.SigningSecrets, rotated.SigningSecrets)
}

// The client key of a policy is opened for its calls, and named where no key opens it.
func TestTheClientKeyOfAPolicy(t *testing.T) {
	t.Parallel()
	on, key := &enginetest.Temporal{}, seal.NewKey()
	box, err := seal.New(key)
	require.NoError(t, err)
	sealed, err := box.Seal("a client key")
	require.NoError(t, err)
	stored := secretive()
	stored.Version, stored.Callback.Headers, stored.Fallback, stored.SigningSecrets = 1, nil, nil, nil
	stored.TLS = &policy.TLS{ClientCertificate: "a certificate", ClientKey: sealed}
	on.Policy(t, stored)
	opened, err := vault(t, on, key).Policy(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, "a client key", opened.TLS.ClientKey)
	_, err = vault(t, on, seal.NewKey()).Policy(t.Context(), "order")
	require.ErrorContains(t, err, "/tls/client_key")
}

// A policy whose key is lost is shown and booked under, and is used for no call.
func TestAPolicyWhoseKeyIsLost(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	_, err := vault(t, on, seal.NewKey()).Put(t.Context(), Change{Policy: secretive()})
	require.NoError(t, err)
	lost := vault(t, on, seal.NewKey())
	_, err = lost.Policy(t.Context(), "order")
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	for _, name := range []string{"/callback/headers/Authorization", "/fallback/headers/X-Key", "/signing_secrets"} {
		require.ErrorContains(t, err, name)
	}
	shown, err := lost.Cached(t.Context(), "order")
	require.NoError(t, err)
	require.Len(t, shown.Unopened, 3)
	_, err = lost.ForOrder(t.Context(), "order", nil)
	require.NoError(t, err)
	_, err = lost.Put(t.Context(), Change{Policy: secretive(), KeepSecrets: true})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), "what cannot be opened cannot be kept")
	_, err = lost.Put(t.Context(), Change{Policy: secretive()})
	require.NoError(t, err, "put anew it is whole again")
	_, err = lost.Policy(t.Context(), "order")
	require.NoError(t, err)
}

// Without a key nothing secret is taken, by the name of the field.
func TestSecretsNeedAKey(t *testing.T) {
	t.Parallel()
	all := secretive()
	for want, change := range map[string]func(p *policy.Policy){
		"/callback/headers": func(p *policy.Policy) { p.Callback.Headers = all.Callback.Headers },
		"/fallback/headers": func(p *policy.Policy) { p.Fallback = all.Fallback },
		"/signing_secrets":  func(p *policy.Policy) { p.SigningSecrets = all.SigningSecrets },
	} {
		on, plain := &enginetest.Temporal{}, policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: all.Callback.Destination}}
		change(&plain)
		_, err := vault(t, on, "").Put(t.Context(), Change{Policy: plain})
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
		require.ErrorContains(t, err, want)
		require.Zero(t, on.RunsOf(orderID))
	}
}

// What is write-only is kept where it was left out, and the last one to write wins.
func TestAPolicyIsEdited(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	p := vault(t, on, seal.NewKey())
	_, err := p.Put(t.Context(), Change{Policy: secretive()})
	require.NoError(t, err)
	masked := secretive()
	masked.SigningSecrets, masked.Callback.Headers, masked.Priority = nil, map[string]string{"Authorization": ""}, 1
	put, err := p.Put(t.Context(), Change{Policy: masked, KeepSecrets: true, KeepHeaders: []string{"Authorization"}})
	require.NoError(t, err)
	require.Equal(t, 2, put.Policy.Version)
	opened, err := p.Policy(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, secretive().SigningSecrets, opened.SigningSecrets)
	require.Equal(t, "Bearer one", opened.Callback.Headers["Authorization"])

	edit := func(stored policy.Policy) (Change, error) {
		require.NotContains(t, stored.SigningSecrets, secretive().SigningSecrets[0], "an editor sees the mask")
		stored.Priority = 2
		return Change{Policy: stored, KeepSecrets: true, KeepHeaders: []string{"Authorization"}, KeepFallbackHeaders: []string{"X-Key"}}, nil
	}
	put, err = p.Put(t.Context(), Change{Policy: policy.Policy{BusinessType: "order"}, Edit: edit})
	require.NoError(t, err)
	require.Equal(t, 2, put.Policy.Priority)
	broken := errors.New("no such field")
	_, err = p.Put(t.Context(), Change{Policy: policy.Policy{BusinessType: "order"}, Edit: func(policy.Policy) (Change, error) { return Change{}, broken }})
	require.ErrorIs(t, err, broken)
}

// A change of a version that is gone is made again on the new one, unless the caller named it.
func TestAPutThatIsOvertaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Change)
		code   wire.Code
	}{
		"the last one wins":          {func(*Change) {}, ""},
		"it is on a version":         {func(c *Change) { c.IfVersion = 1 }, wire.PreconditionFailed},
		"it is on one that there is": {func(c *Change) { c.MustExist = true }, wire.PreconditionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{}
			p := vault(t, on, seal.NewKey())
			first := Change{Policy: secretive()}
			_, err := p.Put(t.Context(), first)
			require.NoError(t, err)
			on.Before = func(call enginetest.Call) error {
				if call.Name != "UpdateWorkflow" {
					return nil
				}
				on.Before = nil
				other := first
				other.Policy.Priority = 1
				_, err := p.Put(t.Context(), other)
				return err
			}
			mine := Change{Policy: secretive()}
			mine.Policy.Priority = 2
			c.change(&mine)
			put, err := p.Put(t.Context(), mine)
			if c.code != "" {
				require.Equal(t, c.code, wire.CodeOf(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, 3, put.Policy.Version)
		})
	}
	p := vault(t, &enginetest.Temporal{}, "")
	_, err := p.Put(t.Context(), Change{Policy: policy.Policy{BusinessType: "order"}, MustExist: true})
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), "there is none")
}

// A policy holds until a call of ours deletes it, whatever becomes of the workflow that keeps it.
func TestAPolicyOutlivesItsWorkflow(t *testing.T) {
	t.Parallel()
	p, on := shop(t, false)
	require.NoError(t, on.TerminateWorkflow(t.Context(), orderID, "", "by hand"))
	stored, err := p.Stored(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, 1, stored.Version)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, on.Status(orderID), "it is started anew")
	require.Equal(t, 2, on.RunsOf(orderID))

	require.NoError(t, on.TerminateWorkflow(t.Context(), orderID, "", "by hand"))
	listed, err := p.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, on.Status(orderID))

	require.NoError(t, on.TerminateWorkflow(t.Context(), orderID, "", "by hand"))
	on.Refuse("ExecuteWorkflow", "", errors.New("down"))
	_, err = p.Stored(t.Context(), "order")
	require.NoError(t, err, "the record holds all the same")
}

// Only a call of ours deletes a policy: however else its workflow ends, it stays in force.
func TestWhatEndsAPolicy(t *testing.T) {
	t.Parallel()
	killers := []enumspb.WorkflowExecutionStatus{
		enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
	}
	for value, name := range enumspb.WorkflowExecutionStatus_name {
		status := enumspb.WorkflowExecutionStatus(value)
		info := &workflowpb.WorkflowExecutionInfo{Status: status}
		require.Equal(t, status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, deleted(info), name)
		require.Equal(t, slices.Contains(killers, status), killed(info), name)
	}
}

// The record of changes has each version once, the newest first, deletions among them.
func TestTheVersionsOfAPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := func() { <-time.After(time.Second) }
		p, on := shop(t, false)
		_, err := p.Versions(t.Context(), "invoice")
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		put := func(priority int) {
			later()
			current := policy.Policy{BusinessType: "order", Priority: priority, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}
			_, err := p.Put(t.Context(), Change{Policy: current, Author: "ana"})
			require.NoError(t, err)
		}
		put(1)
		put(2)
		later()
		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order", Author: "bob", OnOpenTimers: OpenTimersKeep}))
		put(2)
		versions, err := p.Versions(t.Context(), "order")
		require.NoError(t, err)
		var told []any
		for _, version := range versions {
			told = append(told, version.Version, version.ChangedBy, version.Deleted)
		}
		require.Equal(t, []any{4, "ana", false, 3, "bob", true, 3, "ana", false, 2, "ana", false, 1, "", false}, told, "a number never comes twice")
		changed := func(from, to float64) []policy.Difference {
			return []policy.Difference{{Pointer: "/priority", From: from, To: to}}
		}
		require.Equal(t, changed(1, 2), versions[2].Changes)
		require.Equal(t, "/priority", versions[3].Changes[len(versions[3].Changes)-1].Pointer)
		for _, none := range []int{0, 1, 4} {
			require.Nil(t, versions[none].Changes, "after a deletion, for one, and of the first")
		}
		for _, call := range []string{"ListWorkflow", "GetWorkflowHistory"} {
			on.Refuse(call, "", errors.New("down"))
			_, err = p.Versions(t.Context(), "order")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
		}
	})
}

// An earlier version is put back with its header values, to the receiver that they were for. Signing secrets are those
// of the last version, even of a policy that was deleted.
func TestAVersionIsPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		on := &enginetest.Temporal{}
		p := vault(t, on, seal.NewKey())
		const later = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		put := func(change Change) (Result, error) {
			<-time.After(time.Second)
			return p.Put(t.Context(), change)
		}
		_, err := put(Change{Policy: secretive(), Author: "ana"})
		require.NoError(t, err)
		other := secretive()
		other.Callback, other.Fallback, other.SigningSecrets = delivery.Callback{Destination: delivery.HTTP("https://other.test/")}, nil, []string{later}
		again := secretive()
		again.Priority = 5
		_, err = put(Change{Policy: again, Author: "ana"})
		require.NoError(t, err)
		versions, err := p.Versions(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, []policy.Difference{{Pointer: "/priority", From: float64(policy.DefaultPriority), To: 5.0}}, versions[0].Changes, "secrets that are sealed anew are the same")
		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order", Author: "bob", OnOpenTimers: OpenTimersKeep}))
		_, err = put(Change{Policy: other, Author: "ana"})
		require.NoError(t, err)

		first := secretive().Mask()
		back := Change{Policy: first, Author: "ana", KeepSecrets: true, KeepHeaders: []string{"Authorization"}, KeepFallbackHeaders: []string{"X-Key"}, DryRun: true}
		_, err = put(back)
		requireCode(t, wire.InvalidRequest, err)
		back.KeepFrom = 1
		planned, err := put(back)
		require.NoError(t, err)
		require.NotEmpty(t, planned.Changes)
		elsewhere := back
		elsewhere.Policy.Callback.Destination = delivery.HTTP("https://elsewhere.test/")
		_, err = put(elsewhere)
		requireCode(t, wire.InvalidRequest, err)
		back.KeepFrom = 7
		_, err = put(back)
		require.ErrorContains(t, err, "keep_from")
		requireCode(t, wire.InvalidRequest, err)

		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order", Author: "bob", OnOpenTimers: OpenTimersKeep}))
		back.KeepFrom, back.MustBeNew, back.DryRun = 1, true, false
		result, err := put(back)
		require.NoError(t, err)
		require.True(t, result.Created)
		opened, err := p.Policy(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, "Bearer one", opened.Callback.Headers["Authorization"])
		require.Equal(t, "Bearer two", opened.Fallback.Headers["X-Key"])
		require.Equal(t, []string{later}, opened.SigningSecrets)
		on.Refuse("ListWorkflow", "", errors.New("down"))
		_, err = put(back)
		requireCode(t, wire.Unavailable, err)
	})
}

// requireCode holds an error to a code, "" for none.
func requireCode(t *testing.T, code wire.Code, err error) {
	t.Helper()
	if code == "" {
		require.NoError(t, err)
		return
	}
	require.Equal(t, code, wire.CodeOf(err))
}

// Who an order goes to: its own receiver, or the one of its policy, and not to nobody.
func TestWhoAnOrderGoesTo(t *testing.T) {
	t.Parallel()
	own := &delivery.Callback{Destination: delivery.HTTP("https://own.test/")}
	type answer struct{ order, booked wire.Code }
	for name, c := range map[string]struct {
		policy *policy.Policy
		own    *delivery.Callback
		want   answer
	}{
		"no policy":                       {nil, nil, answer{wire.UnknownBusinessType, wire.InvalidRequest}},
		"no policy, a receiver":           {nil, own, answer{}},
		"a policy":                        {&policy.Policy{Callback: *own}, nil, answer{}},
		"a policy that calls nobody":      {&policy.Policy{}, nil, answer{wire.InvalidRequest, wire.InvalidRequest}},
		"a policy that calls nobody, one": {&policy.Policy{}, own, answer{}},
		"receivers that connect":          {&policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, nil, answer{}},
		"receivers that connect, and one": {&policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, own, answer{wire.InvalidRequest, ""}},
		"a policy that is closed":         {&policy.Policy{Callback: *own, ClosedUntil: wire.At(time.Now().Add(time.Hour))}, nil, answer{wire.Unavailable, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{}
			if c.policy != nil {
				current := *c.policy
				current.BusinessType, current.Version = "order", 1
				on.Policy(t, current)
			}
			p := vault(t, on, "")
			_, err := p.ForOrder(t.Context(), "order", c.own)
			requireCode(t, c.want.order, err)
			_, err = p.ForBooked(t.Context(), "order", c.own)
			requireCode(t, c.want.booked, err)
			on.Err = errors.New("down")
			_, err = vault(t, on, "").ForBooked(t.Context(), "order", c.own)
			requireCode(t, wire.Unavailable, err)
			_, err = vault(t, on, "").ForOrder(t.Context(), "order", c.own)
			requireCode(t, wire.Unavailable, err)
		})
	}
	require.Equal(t, "https://own.test/", TargetOf(own, policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://policy.test/")}}))
	require.Equal(t, "https://policy.test/", TargetOf(nil, policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://policy.test/")}}))
}

func TestHowOftenARuleMayRing(t *testing.T) {
	t.Parallel()
	minute := wire.Duration(time.Minute)
	rule := &recurrence.Rule{Every: &minute}
	require.NoError(t, CheckInterval(nil, policy.Policy{MinInterval: wire.Duration(time.Hour)}))
	require.NoError(t, CheckInterval(rule, policy.Policy{MinInterval: minute}))
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(CheckInterval(rule, policy.Policy{MinInterval: minute + 1})))
}

// What was read is known without a question; what took too long to be trusted is read anew.
func TestWhatIsKnownOfPolicies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, on := shop(t, false)
		trusts := func(businessType string) []any { known, ok := p.Trusted(businessType); return []any{known.Version, ok} }
		require.Zero(t, p.LastRead("order").Version)
		require.Equal(t, []any{0, false}, trusts("order"))
		require.Empty(t, p.Known())
		_, err := p.Recent(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, 1, p.LastRead("order").Version)
		require.Len(t, p.Known(), 1)
		_, err = p.Recent(t.Context(), "invoice")
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		require.Equal(t, []any{0, true}, trusts("invoice"), "there is none")
		require.Equal(t, []any{1, true}, trusts("order"))
		on.Err = errors.New("down")
		require.Equal(t, 1, p.LastRead("order").Version)
		<-time.After(time.Hour)
		require.Equal(t, false, trusts("order")[1])
	})
}

// What asks a policy for something says where there is none, or nobody answers.
func TestTheErrorsOfPolicies(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(p *Policies) error{
		"Claim": func(p *Policies) error { return p.Claim(t.Context(), "order", policy.Claim{}) },
		"Lift":  func(p *Policies) error { return p.LiftBackPressure(t.Context(), "order") },
		"HoldBack": func(p *Policies) error {
			return p.HoldBack(t.Context(), "order", policy.BackPressure{Until: wire.At(time.Now().Add(time.Hour))})
		},
		"Delete": func(p *Policies) error {
			return p.Delete(t.Context(), Deletion{BusinessType: "order", OnOpenTimers: OpenTimersKeep})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, wire.NotFound, wire.CodeOf(act(vault(t, &enginetest.Temporal{}, ""))))
			for _, err := range []error{serviceerror.NewUnavailable("busy"), serviceerror.NewDeadlineExceeded("no worker"), errors.New("down")} {
				p, on := shop(t, false)
				on.Before = func(call enginetest.Call) error {
					if call.Of == orderID && call.Name != "DescribeWorkflowExecution" {
						return err
					}
					return nil
				}
				require.Equal(t, wire.Unavailable, wire.CodeOf(act(p)))
			}
			p, _ := shop(t, false)
			require.NoError(t, act(p))
		})
	}
	for _, known := range []OnOpenTimers{OpenTimersRefuse, OpenTimersCancel, OpenTimersKeep} {
		require.True(t, known.Known())
	}
	require.False(t, OnOpenTimers("paint").Known())
}

package policies

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// The examples of RFC 7396, appendix A, whose target and patch are objects.
func TestMergeOfTheStandard(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":"text"}`, `{"a":{"b":1,"c":null}}`, `{"a":{"b":1}}`},
	} {
		target, err := decode.Parse([]byte(c[0]))
		require.NoError(t, err)
		patch, err := decode.Parse([]byte(c[1]))
		require.NoError(t, err)
		require.JSONEq(t, c[2], string(encode(merge(target, patch, policyDepth))), "%s on %s", c[1], c[0])
		require.JSONEq(t, c[0], string(encode(target)), "the target is not touched")
	}
}

// stored is a policy as the engine hands it over: opened, with every default.
func stored(t *testing.T, body string) policy.Policy {
	t.Helper()
	members, err := decode.Parse([]byte(body))
	require.NoError(t, err)
	change, err := Read(members, "order", delivery.Reach{}, policy.Policy{})
	require.NoError(t, err)
	policy := change.Policy.WithDefaults()
	policy.Version = 3
	return policy
}

// edit is what a patch makes of a policy, and the fields that it is refused for.
func edit(t *testing.T, p policy.Policy, patch string) (policy.Policy, []string) {
	t.Helper()
	members, err := decode.Parse([]byte(patch))
	require.NoError(t, err)
	change, err := ReadPatch(members, "order", delivery.Reach{})
	if err != nil {
		return policy.Policy{}, apitest.Pointers(t, err)
	}
	edited, err := change.Edit(p.Mask())
	if err == nil {
		err = edited.Policy.Check().Err()
	}
	if err != nil {
		return policy.Policy{}, apitest.Pointers(t, err)
	}
	next := edited.Policy.WithDefaults()
	require.Empty(t, next.KeepHeaders(p, edited.KeepHeaders))
	if edited.KeepSecrets {
		require.Empty(t, next.KeepSecrets(p))
	}
	return next, apitest.Pointers(t, err)
}

const whole = `{"callback":{"url":"https://h/","headers":{"X-A":"one","X-B":"two"},"timeout":"5s"},
	"retry":{"initial":"1s"},"signing_secrets":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
	"limits":{"adds_per_second":5,"callbacks_per_second":2},"priority":2,"alert":{"url":"https://h/alert"}}`

func TestPatchEditsInPart(t *testing.T) {
	t.Parallel()
	p := stored(t, whole)
	paused, refused := edit(t, p, `{"paused":true}`)
	require.Empty(t, refused)
	want := p
	want.Version, want.Paused = 0, true
	require.Equal(t, want, paused, "what is not named stays, what is secret too")

	edited, refused := edit(t, p, `{"callback":{"headers":{"X-A":"***","X-B":null,"X-C":"three"}},
		"limits":{"adds_per_second":10,"callbacks_per_second":null},"priority":null,"alert":null,"version":9,"business_type":"order"}`)
	require.Empty(t, refused)
	require.Equal(t, map[string]string{"X-A": "one", "X-C": "three"}, edited.Callback.Headers)
	require.Equal(t, 10, edited.Limits.AddsBurst, "a default that follows another field follows it")
	require.Nil(t, edited.Limits.CallbacksPerSecond)
	require.Equal(t, policy.DefaultPriority, edited.Priority)
	require.Nil(t, edited.Alert)

	edited, refused = edit(t, p, `{"retry":{"initial":null,"steps":["7s"]},"signing_secrets":null,"limits":{"adds_per_second":null}}`)
	require.Empty(t, refused)
	require.Equal(t, 2, edited.Retry.Attempts())
	require.Empty(t, edited.SigningSecrets)
	require.Zero(t, edited.Limits.AddsBurst)

	spread, refused := edit(t, stored(t, `{"callback":{"url":"https://h/"}}`), `{"retry":{"jitter":0.5}}`)
	require.Empty(t, refused, "the ladder that is shown is the one that is edited")
	require.Equal(t, delivery.DefaultRetry().Steps, spread.Retry.Steps)
}

func TestPatchOfATypeWithoutPolicy(t *testing.T) {
	t.Parallel()
	made, refused := edit(t, policy.Policy{}, `{"paused":true}`)
	require.Empty(t, refused)
	require.Equal(t, policy.Policy{BusinessType: "order", Paused: true}.WithDefaults(), made)
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	for patch, pointers := range map[string][]string{
		`{}`:                                {""},
		`{"pausd":null}`:                    {"/pausd"},
		`{"callback":{"uri":null}}`:         {"/callback/uri"},
		`{"limits":{"in_flight":0}}`:        {"/limits/in_flight"},
		`{"limits":{"in_flight":"many"}}`:   {"/limits/in_flight"},
		`{"limits":5}`:                      {"/limits"},
		`{"callback":{"url":""}}`:           {"/callback/url", "/callback/headers"},
		`{"callback":{"url":null}}`:         {"/callback/headers"},
		`{"retry":{"steps":["1s"]}}`:        {"/retry/steps"},
		`{"priority":9,"preload":"1h"}`:     {"/priority", "/preload"},
		`{"business_type":"other"}`:         {"/business_type"},
		`{"signing_secrets":["whsec_A"]}`:   {"/signing_secrets/0"},
		`{"callback":{"headers":{"a":{}}}}`: {"/callback/headers/a"},
	} {
		_, refused := edit(t, stored(t, whole), patch)
		require.Equal(t, pointers, refused, patch)
	}
}

// Whatever is sent, a patch is refused, or makes a policy that can be checked,
// and never shows what it kept.
func FuzzPolicyPatch(f *testing.F) {
	f.Add([]byte(`{"callback":{"headers":{"X-A":null,"X-B":"***"}},"retry":{"initial":null,"steps":[]}}`))
	f.Add([]byte(`{"callback":null,"limits":{"adds_per_second":{"a":null}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := decode.Parse(body)
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		change, err := ReadPatch(members, "order", delivery.Reach{})
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		edited, err := change.Edit(stored(t, whole).Mask())
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		shown, err := json.Marshal(mask(edited.Policy))
		require.NoError(t, err)
		require.NotContains(t, string(shown), "whsec_")
	})
}

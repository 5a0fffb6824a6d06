package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
)

// neverRefused are parameters that take every text, and why.
var neverRefused = map[string]string{"who": "it is compared", "operation": "it is compared", "verbose": "only its presence counts"}

// withoutExample are refused parameters that show no example, and why.
var withoutExample = map[string]string{"page_token": "no one can know it"}

// wrongValues are values that some parameter refuses.
func wrongValues() []string {
	far := func(ahead time.Duration) string { return wire.At(time.Now().Add(ahead)).String() }
	return []string{
		"{wrong}", "0", "-1", "-1h", "1ms", "99999999", "9999h", "10", "31d",
		far(-20 * 365 * 24 * time.Hour), far(-30 * time.Hour), far(time.Hour), far(365 * 24 * time.Hour), far(100 * 365 * 24 * time.Hour),
	}
}

// queried is an operation with parameters in its query.
type queried struct {
	asked
	// needed are parameters without which it is refused.
	needed url.Values
	server http.Handler
}

// ask makes the call with one more parameter. What gets past the parameters may fail for
// another reason: the engine behind these calls keeps nothing.
func (q queried) ask(t *testing.T, name, value string) problem.Document {
	t.Helper()
	query := url.Values{name: {value}}
	for needed, values := range q.needed {
		if needed != name {
			query[needed] = values
		}
	}
	_, refused := asked{method: q.method, path: q.path + "?" + query.Encode()}.send(t, q.server, q.base)
	return refused
}

// requireExamples gives a parameter wrong values. Each refusal shows a value, with which the call
// is no longer refused: one of the same parameter, or of the step that is too short for it. It
// reports how many refusals there were.
func (q queried) requireExamples(t *testing.T, name string) (refusals int) {
	t.Helper()
	for _, wrong := range wrongValues() {
		refused := q.ask(t, name, wrong)
		if len(refused.Errors) == 0 {
			continue
		}
		refusals++
		blamed := q
		if refused.Errors[0].Pointer == "step" && name != "step" {
			blamed.needed = maps.Clone(q.needed)
			blamed.needed[name] = []string{wrong}
		} else {
			require.Equal(t, name, refused.Errors[0].Pointer, "%s %s=%s: the parameter that was given is to blame", q.path, name, wrong)
		}
		if withoutExample[name] != "" {
			require.Empty(t, refused.Errors[0].Example, name)
			continue
		}
		var value string
		if !assert.NotEmpty(t, refused.Errors[0].Example, "%s %s=%s", q.path, name, wrong) {
			continue
		}
		require.NoError(t, json.Unmarshal([]byte(refused.Errors[0].Example), &value))
		assert.Empty(t, blamed.ask(t, refused.Errors[0].Pointer, value).Errors, "%s %s: the example %s is refused", q.path, name, value)
	}
	return refusals
}

// eachParameter visits the parameters of the queries of all calls that show examples.
func eachParameter(t *testing.T, visit func(call queried, described node)) {
	t.Helper()
	document, server := readDocument(t), ruled()
	bodies, needed := operationsWithBodies(), map[string]url.Values{"forecastTimers": {"business_type": {"a"}}}
	for path, item := range document.at(t, "paths") {
		for method, one := range item.(node) {
			operation, _ := one.(node)
			id, _ := operation["operationId"].(string)
			if id == "connect" || id == "" {
				continue // a receiver is shown no examples
			}
			call := queried{asked{method: strings.ToUpper(method), path: pathParameter.ReplaceAllString(path, "a"), base: bodies[id].base}, needed[id], server}
			listed, _ := operation["parameters"].([]any)
			for _, parameter := range listed {
				if described := document.resolve(t, parameter.(node)); described["in"] == "query" {
					visit(call, described)
				}
			}
		}
	}
}

// Every refusal of a parameter of a query shows a value that the call takes.
func TestRefusedParametersShowExamples(t *testing.T) {
	t.Parallel()
	parameters := 0
	eachParameter(t, func(call queried, described node) {
		name, _ := described["name"].(string)
		parameters++
		require.Equal(t, neverRefused[name] == "", call.requireExamples(t, name) > 0, "%s %s is refused", call.path, name)
	})
	require.Greater(t, parameters, 60, "the oracle sees parameters")
}

// The document says which parameters may be empty. Any other one is refused, and not read as if it were
// left out.
func TestParametersThatMayBeEmpty(t *testing.T) {
	t.Parallel()
	found := map[bool]int{}
	eachParameter(t, func(call queried, described node) {
		name, _ := described["name"].(string)
		may := described["allowEmptyValue"] == true
		refused := slices.ContainsFunc(call.ask(t, name, "").Errors, func(e wire.FieldError) bool { return e.Pointer == name })
		assert.Equal(t, may, !refused, "%s %s %s", call.method, call.path, name)
		found[may]++
	})
	require.Greater(t, found[true], 3, "the oracle sees both kinds")
	require.Greater(t, found[false], 50)
}

// resolve follows a reference.
func (n node) resolve(t *testing.T, of node) node {
	t.Helper()
	if ref, ok := of["$ref"].(string); ok {
		return n.at(t, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return of
}

// What is no parameter has no example.
func TestUnknownParametersShowNoExample(t *testing.T) {
	t.Parallel()
	list := queried{asked: asked{method: http.MethodGet, path: "/v1/timers"}, server: ruled()}
	require.Empty(t, list.ask(t, "nonsense", "1").Errors[0].Example)
	require.Equal(t, wire.CodeUnknownField, list.ask(t, "nonsense", "1").Errors[0].Code)
}

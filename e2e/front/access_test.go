package front

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/auth"
)

// declared is what the document says of who may call an operation.
type declared struct {
	Role         string `yaml:"role"`
	BusinessType string `yaml:"business_type"`
	Payloads     string `yaml:"payloads"`
}

// described is an operation of the document.
type described struct {
	ID    string   `yaml:"operationId"`
	Scope declared `yaml:"x-scope"`

	method, path string
}

// contractOperations are those under /v1.
func contractOperations(t *testing.T) (all []described) {
	var document struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	require.NoError(t, yaml.Unmarshal(api.OpenAPI, &document))
	for path, methods := range document.Paths {
		for method, node := range methods {
			var one described
			if node.Decode(&one) == nil && one.ID != "" && strings.HasPrefix(path, "/v1/") {
				one.method, one.path = strings.ToUpper(method), path
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b described) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	require.Greater(t, len(all), 45, "the oracle sees operations")
	return all
}

// asker is one cell of the matrix: a role, and for which types the caller has it and calls.
type asker struct {
	role string // as an entry writes it
	all  bool   // whether it has the role for all types, or for its own only
	// about is the target: its own type, a foreign one, or all of them.
	about string
}

const (
	ownType     = "own"
	foreignType = "foreign"
	allTypes    = "all"
)

func (a asker) String() string {
	return fmt.Sprintf("%s of %s about %s", a.role, map[bool]string{true: allTypes, false: ownType}[a.all], a.about)
}

var ranks = map[string]int{"none": 0, "viewer": 1, "operator": 2, "admin": 3}

// verdicts.
const (
	carriedOut = "carried out"
	denied     = "denied"
	absent     = "absent"
)

// expected is what a scope says of a cell.
func (s declared) expected(a asker) string {
	role, rights, _ := strings.Cut(a.role, "+")
	has, covers := ranks[role] >= ranks[s.Role], a.all || a.about == ownType
	switch {
	case !has:
		return denied
	case s.BusinessType == "none" || s.BusinessType == "filtered":
		return carriedOut
	case s.BusinessType == "all":
		return map[bool]string{true: carriedOut, false: denied}[a.all]
	case !covers && s.BusinessType == "id":
		return absent
	case !covers || s.Payloads == "required" && rights == "no-payloads":
		return denied
	}
	return carriedOut
}

// access is a gateway that asks for keys, and beside it one that asks for none, with which
// the test makes what the calls are about.
type access struct {
	*testing.T
	admin    *testenv.Env
	gate     *testenv.Env
	receiver *receiver.Receiver
	kinds    map[string]string
	*noted
}

// noted is what the calls of a matrix are told apart by, and how they were answered.
type noted struct {
	number  atomic.Int64
	mu      sync.Mutex
	results map[string]map[asker]string
	// shared are the ids of what is called without a change.
	shared sync.Map
}

// of is the same matrix for a part of its test.
func (m *access) of(t *testing.T) *access {
	part := *m
	part.T, part.admin, part.gate = t, m.admin.For(t), m.gate.For(t)
	return &part
}

var accessRoles = []string{"viewer", "operator", "operator+no-payloads", "admin"}

func keyOf(role string, all bool) string { return fmt.Sprintf("%s %t", role, all) }

func openAccess(t *testing.T) *access {
	addr := testenv.Alone(t) // pausing everything is not for others
	m := &access{noted: &noted{results: map[string]map[asker]string{}}, T: t, receiver: receiver.New(t), kinds: map[string]string{ownType: sample.Type(t) + ".own", foreignType: sample.Type(t) + ".foreign", allTypes: ""}}
	m.admin = testenv.Open(t, addr)
	m.admin.StartWorker()
	settings := testenv.Settings()
	for _, role := range accessRoles {
		for _, all := range []bool{true, false} {
			digest := sha256.Sum256([]byte(keyOf(role, all)))
			entry := strings.ReplaceAll(keyOf(role, all), " ", "-") + ":" + hex.EncodeToString(digest[:]) + ":" + role
			if !all {
				entry += ":" + m.kinds[ownType]
			}
			key, err := auth.ParseKey(entry)
			require.NoError(t, err)
			settings.APIKeys = append(settings.APIKeys, key)
		}
	}
	m.gate = testenv.OpenWith(t, addr, settings)
	for _, kind := range []string{ownType, foreignType} {
		testenv.Accepts(m.admin, m.receiver, m.kinds[kind], nil)
	}
	return m
}

// answer is what a call was answered with.
type answer struct {
	status  int
	header  http.Header
	body    string
	problem testenv.Problem
}

// ask calls an operation with the key of a cell.
func (m *access) ask(op described, a asker) answer {
	m.Helper()
	id := fmt.Sprintf("x%d", m.number.Add(1))
	if sampleCalls[op.ID].about != nil {
		id = m.subject(op, a, id)
	}
	return m.send(op, a, id)
}

// subject makes what a call is about, and returns its id. Calls that change nothing share one.
func (m *access) subject(op described, a asker, id string) string {
	m.Helper()
	how, kind := sampleCalls[op.ID], m.kinds[a.about]
	if op.method != http.MethodGet && op.wants(a) == carriedOut {
		return how.about(m, kind, id)
	}
	name := op.ID + " " + kind
	if shared, made := m.shared.Load(name); made {
		return shared.(string)
	}
	id = how.about(m, kind, id)
	m.shared.Store(name, id)
	return id
}

func (m *access) send(op described, a asker, id string) answer {
	m.Helper()
	how, kind := sampleCalls[op.ID], m.kinds[a.about]
	path := strings.NewReplacer("{type}", kind, "{id}", id, "{webhook_id}", id).Replace(op.path)
	if how.query != nil {
		path += "?" + how.query(kind)
	}
	var body any
	if how.body != nil {
		body = how.body(kind, id)
	}
	request := m.gate.Request(op.method, path, body)
	request.Header.Set("Authorization", "Bearer "+keyOf(a.role, a.all))
	if op.ID == "uploadItems" {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	if op.ID == "followDispatch" {
		return m.begin(request)
	}
	reply := m.gate.Send(request)
	got := answer{status: reply.Status, header: reply.Header, body: string(reply.Body)}
	if reply.Status >= http.StatusBadRequest {
		got.problem = reply.Problem()
	}
	return got
}

// begin asks for an answer that does not end, and leaves.
func (m *access) begin(request *http.Request) (got answer) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(m, err)
	defer func() { _ = response.Body.Close() }()
	got = answer{status: response.StatusCode, header: response.Header}
	if response.StatusCode >= http.StatusBadRequest {
		text, err := io.ReadAll(response.Body)
		require.NoError(m, err)
		got.body = string(text)
	}
	return got
}

// verdict is what became of a call, "" where it is none of the three.
func (got answer) verdict(want []int) string {
	switch {
	case slices.Contains(want, got.status):
		return carriedOut
	case got.status == http.StatusForbidden && strings.Contains(got.body, `"urn:wakecall:problem:forbidden"`):
		return denied
	case got.status == http.StatusNotFound && strings.Contains(got.body, `"urn:wakecall:problem:not-found"`):
		return absent
	}
	return ""
}

// cells are those of an operation: every role, for its own type and for all, about each
// target that the operation knows.
func (op described) cells() (cells []asker) {
	targets := []string{ownType}
	switch op.Scope.BusinessType {
	case "path", "named", "id":
		targets = append(targets, foreignType)
	}
	if sampleCalls[op.ID].everything {
		targets = append(targets, allTypes)
	}
	for _, role := range accessRoles {
		for _, all := range []bool{true, false} {
			for _, about := range targets {
				cells = append(cells, asker{role, all, about})
			}
		}
	}
	return cells
}

// wants is what a cell must be answered with. Two calls say by themselves what they do with
// a type that is not the caller's.
func (op described) wants(a asker) string {
	want := op.Scope.expected(a)
	switch {
	case op.ID == "addBatch" && want == denied && ranks[strings.Split(a.role, "+")[0]] >= ranks[op.Scope.Role]:
		return carriedOut // as a whole: each timer is judged by itself
	case strings.HasSuffix(op.path, "/emergency/pause") || strings.HasSuffix(op.path, "/emergency/resume"):
		if a.about == allTypes && a.role != "admin" {
			return denied // everything is paused by those who may do everything
		}
	}
	return want
}

// Every call of the document, with every role, for the own type, a foreign one and all: each
// is answered on a running gateway as its scope says.
func TestAccessMatrix(t *testing.T) {
	t.Parallel()
	m := openAccess(t)
	operations := contractOperations(t)
	// What holds callbacks or bookings up comes after the others.
	last := func(op described) bool {
		return op.ID == "deletePolicy" || strings.HasPrefix(op.path, "/v1/emergency/")
	}
	t.Run("at once", func(t *testing.T) {
		for _, op := range operations {
			if !last(op) {
				t.Run(op.ID, func(t *testing.T) { t.Parallel(); m.of(t).every(op) })
			}
		}
	})
	for _, op := range operations {
		if last(op) {
			m.every(op)
		}
	}
	require.Len(t, m.results, len(sampleCalls), "each sample is of an operation")
	wrongScopesAreFound(t, m.results)
}

// every calls an operation in all of its cells.
func (m *access) every(op described) {
	m.Helper()
	how, ok := sampleCalls[op.ID]
	require.True(m, ok, "%s has no sample call", op.ID)
	verdicts := map[asker]string{}
	for _, a := range op.cells() {
		got := m.ask(op, a)
		verdict := got.verdict(how.want)
		verdicts[a] = verdict
		require.Equal(m, op.wants(a), verdict, "%s: %s: %d %s", op.ID, a, got.status, got.body)
		m.givesNothingAway(op, a, got)
		if op.ID == "pauseEverything" && verdict == carriedOut {
			m.make("/v1/emergency/resume", emergencyOf(m.kinds[a.about], ""))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[op.ID] = verdicts
}

// givesNothingAway holds an answer to what its caller may know.
func (m *access) givesNothingAway(op described, a asker, got answer) {
	m.Helper()
	name := op.ID + ": " + a.String()
	if a.all {
		return
	}
	if a.about != foreignType {
		require.NotContains(m, got.body, m.kinds[foreignType], "%s tells of another type", name)
	}
	leavesOut := op.Scope.Payloads == "left_out" && (a.role == "viewer" || strings.HasSuffix(a.role, "no-payloads"))
	if got.status < http.StatusMultipleChoices && op.ID != "listAttempts" {
		require.Equal(m, leavesOut, got.header.Get("Wakecall-Payloads") == "left-out", name)
	}
	if op.ID == "addBatch" && a.about == foreignType && got.status == http.StatusOK {
		require.Contains(m, got.body, `"status":403`, name)
		require.NotContains(m, got.body, `"status":201`, name)
	}
	// What there is not, and what another has, read the same.
	if a.about == foreignType && strings.Contains(op.path, "id}") && got.status >= http.StatusBadRequest {
		nothing := m.send(op, a, "nobody-has-this")
		require.Equal(m, []any{got.status, got.problem.Type, got.problem.Detail}, []any{nothing.status, nothing.problem.Type, nothing.problem.Detail}, name)
	}
}

// wrongScopesAreFound is the negative control: whichever operation declared another role, or
// found its business type in another way, some cell of it would tell.
func wrongScopesAreFound(t *testing.T, results map[string]map[asker]string) {
	t.Helper()
	differs := func(op described) bool {
		for a, verdict := range results[op.ID] {
			if op.wants(a) != verdict {
				return true
			}
		}
		return false
	}
	for _, op := range contractOperations(t) {
		require.False(t, differs(op), op.ID)
		for role := range ranks {
			if other := op; role != op.Scope.Role {
				other.Scope.Role = role
				none := role == "none" && op.Scope.Role == "viewer" || role == "viewer" && op.Scope.Role == "none"
				require.Equal(t, !none, differs(other), "%s with the role %s: nobody is less than a viewer", op.ID, role)
			}
		}
		if other := op; op.Scope.BusinessType == "path" || op.Scope.BusinessType == "id" {
			other.Scope.BusinessType = "filtered"
			require.True(t, differs(other), "%s without its business type", op.ID)
		}
	}
}

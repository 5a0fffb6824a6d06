package front

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// project is a directory with the sources of a client and the document.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T, sources string) project {
	t.Helper()
	p := project{t, t.TempDir()}
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(sources)))
	p.write("openapi.yaml", string(api.OpenAPI))
	return p
}

func (p project) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// run is what a command printed, and whether it went well.
func (p project) run(command *exec.Cmd) (output string, err error) {
	command.Dir = p.dir
	out, err := command.CombinedOutput()
	return string(out), err
}

func (p project) must(command *exec.Cmd) string {
	p.t.Helper()
	output, err := p.run(command)
	require.NoError(p.t, err, "%s\n%s", command, output)
	return output
}

func (p project) command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(p.t.Context(), name, args...)
}

// spoil replaces a piece of the document.
func (p project) spoil(old, with string) {
	p.t.Helper()
	text := string(api.OpenAPI)
	require.Equal(p.t, 1, strings.Count(text, old), old)
	p.write("openapi.yaml", strings.Replace(text, old, with, 1))
}

// A client in Go that oapi-codegen makes compiles, and books.
func TestClientInGo(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	p := newProject(t, "../clients/go")
	generate := func() *exec.Cmd {
		return p.command(process.OAPICodegen(t), "-config", "oapi-codegen.yaml", "openapi.yaml")
	}
	p.must(generate())
	p.must(p.command("go", "build", "-o", "book", "."))
	printed := p.must(p.command(filepath.Join(p.dir, "book"), env.URL, kind, r.URL))
	call := r.Await(t, "go", 1)[0]
	require.Equal(t, fmt.Sprintf("%d %s\n", http.StatusCreated, call.Header.Get("webhook-id")), printed)
	require.JSONEq(t, `{"order":4711}`, string(call.Body))

	p.spoil("          not: {required: [timer]}\n", "          properties: {timer: false}\n")
	_, err := p.run(generate())
	require.Error(t, err, "a document that it cannot read is seen")
}

// wrong is a document where two operations have one name, and two examples violate their schemas.
const wrong = `{openapi: 3.1.0, info: {title: t, version: v1}, paths: {
  /a: {get: {operationId: a, responses: {'200': {description: a, content: {application/json:
    {schema: {type: integer}, example: body}}}}}},
  /b: {get: {operationId: a, responses: {'200': {description: b}}, parameters: [
    {name: p, in: query, schema: {type: integer}, example: parameter}]}}}}`

// A linter that others use finds nothing.
func TestLinterOfTheDocument(t *testing.T) {
	t.Parallel()
	p := newProject(t, "../tools/npm")
	lint := func(document string) *exec.Cmd {
		return process.Node(t, "@redocly/cli/bin/cli.js", "lint", document, "--config", "redocly.yaml")
	}
	require.NotContains(t, p.must(lint("openapi.yaml")), "You have", "redocly succeeds with warnings")
	p.write("wrong.yaml", wrong)
	output, err := p.run(lint("wrong.yaml"))
	require.Error(t, err, "what is wrong is seen")
	for _, rule := range []string{"operation-operationId-unique", "no-invalid-media-type-examples", "no-invalid-parameter-examples"} {
		require.Contains(t, output, rule)
	}
}

// example is a request that the document shows.
type example struct {
	method, path, name string
	body               testenv.JSON
}

func requestExamples(t *testing.T) (found []example) {
	var document struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Example  testenv.JSON
					Examples map[string]struct{ Value testenv.JSON }
				}
			} `yaml:"requestBody"`
		}
	}
	require.NoError(t, yaml.Unmarshal(api.OpenAPI, &document))
	for path, methods := range document.Paths {
		for method, operation := range methods {
			content := operation.RequestBody.Content["application/json"]
			if content.Example != nil {
				found = append(found, example{method, path, "example", content.Example})
			}
			for name, shown := range content.Examples {
				found = append(found, example{method, path, name, shown.Value})
			}
		}
	}
	return found
}

// Every example of a request works, and goes on working: none names a moment
// that must not have passed.
func TestExamplesOfTheDocumentWork(t *testing.T) {
	t.Parallel()
	// A server of its own: one example pauses everything.
	addr := testenv.Alone(t)
	env, kind := testenv.OpenWith(t, addr, testenv.Settings()), sample.Type(t)
	env.StartWorker()
	examples := requestExamples(t)
	require.Greater(t, len(examples), 8)
	for i, x := range examples {
		path := strings.NewReplacer("{type}", kind, "{id}", fmt.Sprint(i)).Replace(x.path)
		t.Run(x.method+" "+x.path+" "+x.name, func(t *testing.T) {
			text, err := json.Marshal(x.body)
			require.NoError(t, err)
			require.NotRegexp(t, `"(due|latest|start|end)_at"`, string(text), "it ages")
			if timer, _, ok := strings.Cut(path, "/"+fmt.Sprint(i)); ok && x.method != "put" {
				there := testenv.JSON{"recurrence": testenv.JSON{"every": "1h"}, "callback": testenv.JSON{"url": "https://example.com/"}}
				if x.method == "patch" {
					there = testenv.JSON{"delay": "1h", "callback": there["callback"]}
				}
				require.Equal(t, http.StatusCreated, env.Do("PUT", timer+"/"+fmt.Sprint(i), there).Status)
			}
			if x.body["business_type"] != nil {
				x.body["business_type"] = kind
			}
			reply := env.Do(strings.ToUpper(x.method), path, x.body)
			if strings.HasPrefix(path, "/v1/deliveries/") { // nothing was accepted here
				require.Equal(t, http.StatusNotFound, reply.Status, "%s", reply.Body)
				return
			}
			require.Contains(t, []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, reply.Status, "%s", reply.Body)
		})
	}
}

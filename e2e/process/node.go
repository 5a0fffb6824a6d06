package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// NodeModules is the directory of the packages locked by e2e/tools/npm, installed.
func NodeModules(t testing.TB) string {
	t.Helper()
	dir, err := nodeModules()
	require.NoError(t, err)
	return dir
}

// nodeModules installs once for each lock file. The copy of the lock file that it leaves
// identifies the installed one.
var nodeModules = sync.OnceValues(func() (string, error) {
	source, dir := filepath.Join(checkout(), "e2e", "tools", "npm"), filepath.Join(binaries(), "npm")
	modules, stamp := filepath.Join(dir, "node_modules"), filepath.Join(dir, "installed.json")
	want, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", err
	}
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, want) {
		return modules, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		return "", err
	}
	install := exec.Command("npm", "ci", "--prefer-offline")
	install.Dir = dir
	if output, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	return modules, os.WriteFile(stamp, want, 0o600)
})

// Node is a command that runs a script of a package of e2e/tools/npm.
func Node(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(NodeModules(t), script)
	return exec.CommandContext(t.Context(), "node", append([]string{path}, args...)...)
}

// WithTypeScriptClient is [NodeModules] with clients/typescript, compiled, as the package
// wakecall.
func WithTypeScriptClient(t testing.TB) string {
	t.Helper()
	require.NoError(t, compileTypeScriptClient())
	return NodeModules(t)
}

// compileTypeScriptClient copies only the sources: packages installed or built beside them
// are not locked here.
var compileTypeScriptClient = sync.OnceValue(func() error {
	modules, err := nodeModules()
	if err != nil {
		return err
	}
	source, dir := filepath.Join(checkout(), "clients", "typescript"), filepath.Join(modules, "wakecall")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(source, "src"))); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "tsconfig.json", "tsconfig.build.json"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	compile := exec.Command("node", filepath.Join(modules, "typescript", "bin", "tsc"), "--project", filepath.Join(dir, "tsconfig.build.json"))
	if output, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("tsc: %w\n%s", err, output)
	}
	return nil
})

// OAPICodegen is the path of the generator of clients in Go.
func OAPICodegen(t testing.TB) string { return built(t, oapiCodegen) }

var oapiCodegen = program("OAPI_CODEGEN", "oapi-codegen",
	from("e2e/clients/go", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"))

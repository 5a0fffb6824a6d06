package deploy_test

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// dynamic lists a program's dynamic libraries.
func dynamic(t *testing.T, path string) (found []string) {
	t.Helper()
	program, err := elf.Open(path)
	require.NoError(t, err)
	defer func() { _ = program.Close() }()
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			found = append(found, "an interpreter")
		}
	}
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	return append(found, libraries...)
}

// settings are the build settings of a program.
func settings(t *testing.T, path string) map[string]string {
	t.Helper()
	info, err := buildinfo.ReadFile(path)
	require.NoError(t, err)
	found := map[string]string{}
	for _, setting := range info.Settings {
		found[setting.Key] = setting.Value
	}
	return found
}

// The programs are static and resolve names in Go. The resolver of C uses a thread for each
// query: with a silent name server they reach the limit of a systemd unit.
func TestProgramsAreStatic(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems have no static programs")
	}
	for _, path := range []string{process.WakecallBinary(t), process.StandaloneBinary(t)} {
		require.Empty(t, dynamic(t, path), path)
		require.Equal(t, "0", settings(t, path)["CGO_ENABLED"], path)
		require.Equal(t, "true", settings(t, path)["-trimpath"], path)
	}
	shell, err := os.Executable()
	require.NoError(t, err)
	if settings(t, shell)["CGO_ENABLED"] == "1" {
		require.NotEmpty(t, dynamic(t, shell), "the oracle sees a program that is not")
	}
}

var ownBuild = regexp.MustCompile(`go build.* -o \$\((?:WAKECALL_BIN|WAKECALL_STANDALONE_BIN|BIN\)/wakecall-bench)`)

// Every target that builds one of our programs builds it in this way.
func TestTheMakefileBuildsWithoutCgo(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(makefile), `GO_BUILD := CGO_ENABLED=0 go build $(VERBOSE) -trimpath -pgo=$(CURDIR)/standalone/profile.pgo -ldflags "-w `)
	require.Equal(t, 6, strings.Count(string(makefile), "$(GO_BUILD) -"))
	require.Contains(t, string(makefile), "$(GO_BUILD) -buildvcs=false -o $$file .); \\\n\t\t\t$(CYCLONEDX) bin -json ", "a release has nothing of the checkout, and says what is in it")
	require.Empty(t, ownBuild.FindAllString(string(makefile), -1))
	require.Regexp(t, ownBuild, `	go build -ldflags "" -o $(WAKECALL_BIN) .`, "the oracle sees another build")
}

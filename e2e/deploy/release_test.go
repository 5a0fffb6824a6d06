package deploy_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

const released = "v9.8.7"

// release builds the release for this system, in one directory.
func release(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tools, err := filepath.Abs(filepath.Join(checkout, "bin"))
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "make", "-C", from, "release", "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH, "RELEASE="+dir+"/out", "WAKECALL_VERSION="+released, "BIN="+tools)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(dir, "out")
}

// sum is the checksum of a file.
func sum(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	found := sha256.Sum256(text)
	return hex.EncodeToString(found[:])
}

// sums are the checksums in a release, by file.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	told := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		digest, name, _ := strings.Cut(lines.Text(), "  ")
		told[name] = digest
	}
	return told
}

// components are the libraries that an SBOM names, sorted.
func components(t *testing.T, path string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var bom struct {
		Components []struct{ Name, Version string }
		Metadata   struct{ Component struct{ Version string } }
	}
	require.NoError(t, json.Unmarshal(text, &bom, json.MatchCaseInsensitiveNames(true)))
	require.Equal(t, released, bom.Metadata.Component.Version)
	for _, component := range bom.Components {
		found = append(found, component.Name)
	}
	slices.Sort(found)
	return found
}

// linked are the libraries in a program's build information, sorted. A replaced library has
// the name of its replacement.
func linked(t *testing.T, path string) (found []string) {
	t.Helper()
	info, err := buildinfo.ReadFile(path)
	require.NoError(t, err)
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		found = append(found, module.Path)
	}
	slices.Sort(found)
	return found
}

// A release has the downloads of each system: complete, named, and the same wherever it is
// built. It runs at night and before a release: it links four programs.
func TestReleasesAreWholeAndTheSameEverywhere(t *testing.T) {
	if !process.Long() {
		t.Skip("make test-release")
	}
	t.Parallel()
	dir, again := release(t, checkout), release(t, buildContext(t))
	told := sums(t, dir)
	require.Equal(t, told, sums(t, again), "built from another directory, and without git")
	platform := "-" + runtime.GOOS + "-" + runtime.GOARCH
	require.Len(t, told, 4)
	for _, name := range []string{"wakecall", "wakecall-standalone"} {
		file := filepath.Join(dir, name+platform)
		require.Equal(t, sum(t, file), told[name+platform])
		require.Equal(t, sum(t, file+".cdx.json"), told[name+platform+".cdx.json"])
		require.Equal(t, released, strings.TrimSpace(process.Execute(t, file, "version")))
		require.Equal(t, linked(t, file), components(t, file+".cdx.json"))
		require.Equal(t, "0", settings(t, file)["CGO_ENABLED"])
		require.Empty(t, settings(t, file)["vcs.revision"])
	}
	require.NotEqual(t, told["wakecall"+platform], sum(t, process.WakecallBinary(t)), "the oracle sees another program")
}

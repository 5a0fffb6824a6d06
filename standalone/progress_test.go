package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// goOfThisTest lists 250 packages.
const goOfThisTest = "#!/bin/sh\n[ \"$1\" = list ] && seq 250\n"

// progress runs a command as `make run` runs the build of a binary.
func progress(t *testing.T, binary, command string) (output string, err error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(goOfThisTest), 0o700))
	script := exec.CommandContext(t.Context(), "./progress.sh", "sh", "-c", command)
	script.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "WHAT=Wakecall", "SECONDS_OF_CPU=600", "WAKECALL_STANDALONE_BIN="+binary)
	text, err := script.CombinedOutput()
	return string(text), err
}

func TestTheBuildSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	output, err := progress(t, "gone", `for i in $(seq 230); do echo example.com/p$i >&2; done; echo "go: downloading example.com v1.2.3"`)
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`^Building Wakecall\.
A first build takes about \d+ minutes on \d+ processors, and downloads before; later ones take seconds\.
  compiled 100 of about 250 packages
  compiled 200 of about 250 packages
go: downloading example\.com v1\.2\.3
$`), output)
}

// A later build without work is quiet.
func TestALaterBuildIsQuiet(t *testing.T) {
	t.Parallel()
	output, err := progress(t, "progress.sh", "echo example.com/p >&2")
	require.NoError(t, err)
	require.Empty(t, output)
}

// The compiler's errors are shown, and the build fails.
func TestAFailedBuildIsSeen(t *testing.T) {
	t.Parallel()
	output, err := progress(t, "gone", `echo example.com/p >&2; echo "./main.go:7:2: undefined: x" >&2; exit 3`)
	require.ErrorContains(t, err, "exit status 3")
	require.Contains(t, output, "./main.go:7:2: undefined: x\n")
	require.NotContains(t, output, "example.com/p\n")
}

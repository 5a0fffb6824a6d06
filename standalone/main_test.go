package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/seal"
)

// docs/configuration.md matches the settings, row by row.
func TestDocumentationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/configuration.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## Standalone")
	own := reflect.TypeFor[settings]()
	for i := range own.NumField() {
		tag := own.Field(i).Tag
		require.Contains(t, section, fmt.Sprintf("| `%s` | `%s` | %s |", tag.Get("env"), tag.Get("envDefault"), tag.Get("help")))
	}
	require.Equal(t, own.NumField(), strings.Count(section, "\n| `WAKECALL_"), "no row too many")
}

func TestEverythingWrongIsNamedInOneAnswer(t *testing.T) {
	wrong := map[string]string{
		"WAKECALL_TEMPORAL_ADDR": "localhost:7233", "WAKECALL_UI_ADDR": "0.0.0.0:8233", "WAKECALL_TEMPORAL_PUBLIC": "perhaps",
		"WAKECALL_RETENTION": "0s", "WAKECALL_HISTORY_SHARDS": "0",
		"WAKECALL_HTTP_ADDR": "nowhere", "WAKECALL_POLICY_TTL": "-1s", "WAKECALL_RETENTON": "1h",
	}
	for name, value := range wrong {
		t.Setenv(name, value)
	}
	var own settings
	var shared config.Config
	err := config.Read(&shared, &own)
	require.Error(t, err)
	for name := range wrong {
		if name != "WAKECALL_UI_ADDR" { // the flag that would allow it is invalid
			require.Contains(t, err.Error(), name+": ")
		}
	}
	require.ErrorContains(t, err, "did you mean WAKECALL_RETENTION?")
}

func TestWhatSeveralGatewaysShareIsRefused(t *testing.T) {
	for _, name := range ofGateways {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "redis://:hidden@redis:6379/0")
			err := config.Read(new(config.Config), new(settings))
			require.ErrorContains(t, err, name+": is for limits that several gateways share")
			require.NotContains(t, err.Error(), "hidden")
		})
	}
}

func TestPublicTemporalNeedsAWord(t *testing.T) {
	for _, name := range []string{"WAKECALL_TEMPORAL_ADDR", "WAKECALL_UI_ADDR"} {
		for _, addr := range []string{"0.0.0.0:7233", "[::]:7233", "10.0.0.1:7233"} {
			t.Run(name+" "+addr, func(t *testing.T) {
				t.Setenv(name, addr)
				require.ErrorContains(t, config.Read(new(settings)), "WAKECALL_TEMPORAL_PUBLIC=true")
				t.Setenv("WAKECALL_TEMPORAL_PUBLIC", "true")
				require.NoError(t, config.Read(new(settings)))
			})
		}
	}
}

// Clients of Temporal and its Web UI must know the port. The API tells its own.
func TestPortsOfTemporalAreNamed(t *testing.T) {
	for _, name := range []string{"WAKECALL_TEMPORAL_ADDR", "WAKECALL_UI_ADDR"} {
		t.Run(name, func(t *testing.T) {
			for _, port := range []string{"0", "00", ""} {
				t.Setenv(name, "127.0.0.1:"+port)
				require.ErrorContains(t, config.Read(new(settings)), name+": must name a port, not 0")
			}
			t.Setenv(name, "127.0.0.1:1")
			require.NoError(t, config.Read(new(settings)))
		})
	}
	t.Setenv("WAKECALL_HTTP_ADDR", "127.0.0.1:0")
	require.NoError(t, config.Read(new(config.Config), new(settings)))
}

// A value that is no number and no flag is named in words of ours.
func TestValuesThatCannotBeRead(t *testing.T) {
	t.Setenv("WAKECALL_HISTORY_SHARDS", "1e1")
	t.Setenv("WAKECALL_TEMPORAL_PUBLIC", "yes")
	err := config.Read(new(settings))
	require.ErrorContains(t, err, `WAKECALL_HISTORY_SHARDS: "1e1" is not a whole number`)
	require.ErrorContains(t, err, `WAKECALL_TEMPORAL_PUBLIC: "yes" is neither true nor false`)
	require.NotContains(t, err.Error(), "strconv")
}

func TestRetentionAndShards(t *testing.T) {
	for name, values := range map[string]map[string]bool{
		"WAKECALL_RETENTION":      {"0s": false, "-720h": false, "59m": false, "1h": true},
		"WAKECALL_HISTORY_SHARDS": {"0": false, "-4": false, "513": false, "four": false, "512": true},
		"WAKECALL_DATA_DIR":       {"/var/lib/wakecall": true},
	} {
		for value, right := range values {
			t.Run(name+"="+value, func(t *testing.T) {
				t.Setenv(name, value)
				if err := config.Read(new(settings)); right {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, name+": ")
				}
			})
		}
	}
}

func TestLinksCanBeFollowed(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"0.0.0.0:8233": "127.0.0.1:8233", "[::]:8233": "127.0.0.1:8233", ":8233": "127.0.0.1:8233", "10.0.0.1:8233": "10.0.0.1:8233",
	} {
		require.Equal(t, want, reachable(addr))
	}
}

// The greeting shows how to call the program, by the binary beside it.
func TestTheGreetingNamesTheCommandLine(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	own := filepath.Join(here, "bin", "wakecall-standalone")
	require.NoError(t, os.Mkdir("bin", 0o700))
	require.Equal(t, "bin/wakecall-standalone", commandLine(own))
	require.NoError(t, os.WriteFile("bin/wakecall", nil, 0o700))
	require.Equal(t, "bin/wakecall", commandLine(own))
	require.Equal(t, "bin/wakecall", commandLine("bin/wakecall-standalone"))
	require.Equal(t, "wakecall-standalone", commandLine("wakecall-standalone"), "found by its name, as everything in PATH")
	require.Equal(t, "/opt/wakecall-standalone", commandLine("/opt/wakecall-standalone"))

	// The console is read where the working directory is another one.
	require.Equal(t, filepath.Join(here, "bin", "wakecall"), fromAnywhere("bin/wakecall"))
	require.Equal(t, "/opt/wakecall", fromAnywhere("/opt/wakecall"))
	require.Equal(t, "wakecall-standalone", fromAnywhere("wakecall-standalone"))

	var out bytes.Buffer
	settings{UIAddr: ":8233", DataDir: "./data"}.greet(&out, "http://127.0.0.1:8081", false)
	require.Contains(t, out.String(), "export WAKECALL_URL=http://127.0.0.1:8081\n")
	require.Contains(t, out.String(), " add demo/hello-2 --delay 5s ")
	require.Contains(t, out.String(), "http://127.0.0.1:8233\n")
	require.NotContains(t, out.String(), "WAKECALL_API_KEY")
}

// Where callers are asked for a key, what the greeting shows sends one. The command line reads the same
// variable.
func TestTheGreetingSendsAKeyWhereOneIsAskedFor(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	settings{UIAddr: ":8233", DataDir: "./data"}.greet(&out, "https://127.0.0.1:8081", true)
	_, before, read := strings.Cut(out.String(), "read -r WAKECALL_API_KEY; stty echo; export WAKECALL_API_KEY\n")
	require.True(t, read)
	require.Contains(t, before, `curl -sS https://127.0.0.1:8081/v1/timers -H "Authorization: Bearer $WAKECALL_API_KEY" -H 'Content-Type: application/json' -d '{`)
}

func TestRecordsHaveTheStandardOutputForThemselves(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	streams := program.Streams{Out: &out, Err: &errs}
	for audit, want := range map[string]*bytes.Buffer{config.AuditStdout: &errs, config.AuditOff: &out, "/var/log/audit.log": &out} {
		require.Same(t, want, greets(config.Config{Audit: audit}, streams), audit)
	}
}

func TestBadKeyFileIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.key")
	for _, text := range []string{"\n", "c2hvcnQ=\n"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := secretKey(file)
		require.ErrorContains(t, err, file)
		require.NotContains(t, err.Error(), "c2hvcnQ")
	}
	_, err := secretKey(filepath.Dir(file))
	require.ErrorContains(t, err, filepath.Dir(file))
}

func TestSecretKeysAreReadFromLines(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.key")
	first, second := seal.NewKey(), seal.NewKey()
	require.NoError(t, os.WriteFile(file, []byte(first+"\n"+second+"\n"), 0o600))
	keys, err := secretKey(file)
	require.NoError(t, err)
	require.Equal(t, first+","+second, keys)
}

func TestSecretKeyIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.key")
	first, err := secretKey(file)
	require.NoError(t, err)
	again, err := secretKey(file)
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = seal.New(first)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

package programs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	for _, program := range []string{process.WakecallBinary(t), process.StandaloneBinary(t)} {
		for _, arg := range []string{"version", "--version"} {
			require.Regexp(t, `^\S+\n$`, process.Execute(t, program, arg))
		}
		for _, arg := range []string{"--help", "-h", "help"} {
			require.Contains(t, process.Execute(t, program, arg), "Print the version\n")
		}
	}
	require.Contains(t, process.Execute(t, process.WakecallBinary(t), "api", "--help"), "Serve the HTTP API")
}

// A failed start prints one line for each fault, with the name that an operator knows.
func TestWrongStartsSayWhy(t *testing.T) {
	t.Parallel()
	nowhere := loopback.Addr()
	for name, c := range map[string]struct {
		program string
		args    []string
		env     map[string]string
		want    []string
	}{
		"no Temporal":     {process.WakecallBinary(t), []string{"worker"}, map[string]string{"TEMPORAL_ADDRESS": nowhere}, []string{"connecting to Temporal at " + nowhere + ": "}},
		"nowhere named":   {process.WakecallBinary(t), []string{"api"}, map[string]string{"TEMPORAL_ADDRESS": ""}, []string{"connecting to Temporal at localhost:7233: "}},
		"wrong settings":  {process.WakecallBinary(t), []string{"api"}, map[string]string{"WAKECALL_POLICY_TTL": "soon", "WAKECALL_LOG_LEVL": "info"}, []string{"wakecall: WAKECALL_LOG_LEVL: there is no such setting; did you mean WAKECALL_LOG_LEVEL?\n", "wakecall: WAKECALL_POLICY_TTL: "}},
		"wrong key file":  {process.WakecallBinary(t), []string{"worker"}, map[string]string{"WAKECALL_SECRET_KEY_FILE": "/nowhere/key"}, []string{"WAKECALL_SECRET_KEY_FILE: open /nowhere/key: "}},
		"zero retention":  {process.StandaloneBinary(t), nil, map[string]string{"WAKECALL_RETENTION": "0s", "WAKECALL_UI_ADDR": "0.0.0.0:1"}, []string{"WAKECALL_RETENTION: ", "WAKECALL_UI_ADDR: "}},
		"nothing to copy": {process.StandaloneBinary(t), []string{"backup", t.TempDir()}, map[string]string{"WAKECALL_DATA_DIR": t.TempDir()}, []string{"is not a data directory of Wakecall"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "nowhere named" && !loopback.Free("127.0.0.1:7233") {
				t.Skip("somebody runs a Temporal here")
			}
			p := process.Launch(t, process.Command{Path: c.program, Args: c.args, Env: c.env})
			require.Equal(t, 1, p.Wait())
			for _, want := range c.want {
				require.Contains(t, p.Stderr(), want)
			}
		})
	}
}

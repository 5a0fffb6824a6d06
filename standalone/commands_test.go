package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
)

// The standalone binary has the verbs of the client, and runs the server only without a command.
func TestTheVerbsOfTheClient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"timers":[]}`)) }))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		exit int
		args []string
	}{
		{program.ExitDone, []string{"list", "--server", server.URL}},
		{program.ExitDone, []string{"version"}},
		{program.ExitDone, []string{"backup", "--help"}},
		{program.ExitUsage, []string{"backup"}},
		{program.ExitUsage, []string{"nonsense"}},
		{program.ExitUsage, []string{"--json"}},
	} {
		var out, complaint bytes.Buffer
		exit := program.Run(t.Context(), c.args, program.Streams{Out: &out, Err: &complaint, Now: time.Now}, commands)
		require.Equal(t, c.exit, exit, "%s: %s", c.args, complaint.String())
		require.NotEmpty(t, out.String()+complaint.String())
	}
}

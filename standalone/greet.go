package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/config"
)

// greets returns where to greet. A standard output with the records of calls has nothing else: every
// line of it is JSON.
func greets(shared config.Config, streams program.Streams) io.Writer {
	if shared.Audit == config.AuditStdout {
		return streams.Err
	}
	return streams.Out
}

// withKey are the first steps where callers are asked for a key. Read alone waits for one and does not
// show it, in every POSIX shell.
const withKey = `Your API key, for the commands below:

  stty -echo; read -r WAKECALL_API_KEY; stty echo; export WAKECALL_API_KEY

`

// greet prints the addresses, and the first steps. asksForKeys adds to them what shows who calls.
func (s settings) greet(out io.Writer, api string, asksForKeys bool) {
	key, header := "", ""
	if asksForKeys {
		key, header = withKey, ` -H "Authorization: Bearer $WAKECALL_API_KEY"`
	}
	_, _ = fmt.Fprintf(out, `
Wakecall is ready.

  API          %[1]s        (description: %[1]s/docs)
  Web UI       http://%[2]s
  Temporal     %[3]s
  data         %[4]s

%[6]sTry it:

  curl -sS %[1]s/v1/timers%[7]s -H 'Content-Type: application/json' -d '{
    "business_type": "demo", "business_id": "hello-1", "delay": "5s",
    "payload": {"hello": "world"},
    "callback": {"url": "http://127.0.0.1:9000/"}}'

The same by its command line, which has every other call as well:

  export WAKECALL_URL=%[1]s
  %[5]s add demo/hello-2 --delay 5s --payload '{"hello": "world"}' --url http://127.0.0.1:9000/
  %[5]s --help

`, api, reachable(s.UIAddr), s.TemporalAddr, s.DataDir, commandLine(os.Args[0]), key, header)
}

// fromAnywhere returns a command that works in each directory.
func fromAnywhere(command string) string {
	if path, err := filepath.Abs(command); err == nil && strings.ContainsRune(command, filepath.Separator) {
		return path
	}
	return command
}

// commandLine returns the command for the verbs: wakecall if it is beside this program, which
// has the same verbs.
func commandLine(own string) string {
	beside := filepath.Join(filepath.Dir(own), "wakecall")
	if info, err := os.Stat(beside); strings.ContainsRune(own, filepath.Separator) && err == nil && info.Mode().IsRegular() {
		own = beside
	}
	here, err := os.Getwd()
	if relative, below := strings.CutPrefix(own, here+string(filepath.Separator)); err == nil && below {
		return relative
	}
	return own
}

// Package receivers starts HTTP servers in other languages than Go, which read requests and
// keep connections in their own way. It returns what they received.
package receivers

import (
	_ "embed"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// Make is the make of a server.
type Make string

// The makes, each as packaged by Debian; Express as packaged by npm.
const (
	Nginx      Make = "nginx"
	Node       Make = "node"
	Express    Make = "express"
	HTTPServer Make = "http.server"
	WSGI       Make = "wsgiref"
	Flask      Make = "flask"
	PHP        Make = "php"
)

// Makes lists every make.
func Makes() []Make { return append(Verifying(), Nginx) }

// Verifying lists the makes that verify signatures: those on Node with the official library
// of Standard Webhooks, the others by hand, since Debian has none.
func Verifying() []Make { return []Make{Node, Express, HTTPServer, WSGI, Flask, PHP} }

var (
	//go:embed programs/nginx.conf
	nginxConf string
	//go:embed programs/node.mjs
	nodeProgram string
	//go:embed programs/http_server.py
	httpServerProgram string
	//go:embed programs/wsgi.py
	wsgiProgram string
	//go:embed programs/php.php
	phpProgram string
	//go:embed programs/express.mjs
	expressProgram string
	//go:embed programs/flask_app.py
	flaskProgram string
	//go:embed programs/verify.mjs
	nodeVerify string
	//go:embed programs/verify.py
	pythonVerify string
)

// recipe starts a make: file is written into a directory of the server's, and its name
// replaces FILE in the arguments.
type recipe struct {
	file, text, command string
	args                []string
}

var recipes = map[Make]recipe{
	Nginx:      {"nginx.conf", nginxConf, "nginx", []string{"-e", "stderr", "-c", "FILE"}},
	Node:       {"receiver.mjs", nodeProgram, "node", []string{"FILE"}},
	Express:    {"receiver.mjs", expressProgram, "node", []string{"FILE"}},
	HTTPServer: {"receiver.py", httpServerProgram, "/usr/bin/python3", []string{"FILE"}},
	WSGI:       {"receiver.py", wsgiProgram, "/usr/bin/python3", []string{"FILE"}},
	Flask:      {"receiver.py", flaskProgram, "/usr/bin/gunicorn", []string{"--bind", "HOST:PORT", "--chdir", "DIR", "receiver"}},
	PHP:        {"receiver.php", phpProgram, "php", []string{"-S", "HOST:PORT", "FILE"}},
}

// Request is one request as the server understood it.
type Request struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	ID        string `json:"id"` // the business id
	WebhookID string `json:"webhook_id"`
	Attempt   string `json:"attempt"`
	Length    string `json:"length"`   // Content-Length
	Encoding  string `json:"encoding"` // Transfer-Encoding
	Size      int    `json:"size"`     // of the body; -1 if the make does not report it
	// Nth numbers the requests of a connection, if the make reports it.
	Nth int `json:"nth"`
	// Verified is how the signature was verified: by the "library", by "hand", or "wrong".
	Verified string `json:"verified"`
	// Error is what the server could not read.
	Error string `json:"error"`
}

// Server is a running server.
type Server struct {
	URL string

	t   testing.TB
	log string
}

// Settings configures a server; the zero value is its default.
type Settings struct {
	// Secret makes it answer 401 to a wrong signature.
	Secret string
	// Idle is how long Node keeps a connection without a request, 5 s by default.
	Idle time.Duration
}

// Start starts a server that answers 200 to everything, on its own port, until the test ends.
func Start(t testing.TB, of Make) *Server { return StartWith(t, of, Settings{}) }

// StartWith is [Start] with settings.
func StartWith(t testing.TB, of Make, settings Settings) *Server {
	t.Helper()
	dir, r := t.TempDir(), recipes[of]
	addr := loopback.Addr()
	host, port, _ := net.SplitHostPort(addr)
	file, log := filepath.Join(dir, r.file), filepath.Join(dir, "requests.log")
	require.NoError(t, os.WriteFile(log, nil, 0o666))
	fill := strings.NewReplacer("HOST", host, "PORT", port, "LOG", log, "DIR", dir, "FILE", file)
	if of == Nginx {
		r.text = fill.Replace(r.text)
	}
	require.NoError(t, os.WriteFile(file, []byte(r.text), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "verify.py"), []byte(pythonVerify), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "verify.mjs"), []byte(nodeVerify), 0o644))
	if r.command == "node" {
		require.NoError(t, os.Symlink(process.NodeModules(t), filepath.Join(dir, "node_modules")))
	}
	command, err := exec.LookPath(r.command)
	require.NoError(t, err, "install it with make deps")
	args := make([]string, len(r.args))
	for i, arg := range r.args {
		args[i] = fill.Replace(arg)
	}
	running := process.Start(t, process.Command{
		Path: command, Args: args, Ready: "tcp://" + addr,
		Env: map[string]string{
			"HOST": host, "PORT": port, "LOG": log, "SECRET": settings.Secret, "IDLE": milliseconds(settings.Idle),
		},
	})
	if of == Flask { // its worker is a separate process, which only gunicorn ends at once
		t.Cleanup(func() { running.Stop() })
	}
	return &Server{URL: "http://" + addr, t: t, log: log}
}

func milliseconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// Requests returns every request so far, and the unreadable ones.
func (s *Server) Requests() (all []Request) {
	s.t.Helper()
	text, err := os.ReadFile(s.log)
	require.NoError(s.t, err)
	for line := range strings.Lines(string(text)) {
		var request Request
		require.NoError(s.t, json.Unmarshal([]byte(line), &request), line)
		all = append(all, request)
	}
	return all
}

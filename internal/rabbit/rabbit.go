// Package rabbit starts a RabbitMQ for tests: Debian's package, on loopback, with its own ports
// and directory. A [Proxy] before it simulates faults of brokers.
package rabbit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// home has the programs of Debian's package. Those in the path change the user.
const home = "/usr/lib/rabbitmq/bin/"

// startTime and stopTime bound a start and a stop, even on a busy machine.
const (
	startTime = 5 * time.Minute
	stopTime  = time.Minute
)

// Server is a RabbitMQ that runs until the test ends.
type Server struct {
	t testing.TB
	// Address is host:port, and URL has the user with all permissions.
	Address, URL string

	distribution string // the port of Erlang's own connections
	program      string
	environment  []string
	directory    string
	node         *exec.Cmd
	exited       chan struct{} // closed after the node's exit
}

// Start starts a RabbitMQ, and skips the test if none is installed.
func Start(t testing.TB) *Server { t.Helper(); return StartBy(t, home+"rabbitmq-server") }

// StartBy is [Start] with another start script and more environment.
func StartBy(t testing.TB, script string, environment ...string) *Server {
	t.Helper()
	if _, err := os.Stat(home + "rabbitmq-server"); err != nil {
		t.Skip("RabbitMQ is not installed: apt-get install rabbitmq-server")
	}
	directory, err := os.MkdirTemp("", "wakecall-rabbit-") //nolint:usetesting // it has to outlive the server, which the cleanup stops
	if err != nil {
		t.Fatal(err)
	}
	port, distribution, mapper := freePort(t), freePort(t), freePort(t)
	s := &Server{
		t: t, distribution: distribution, program: script, directory: directory, Address: "127.0.0.1:" + port,
		URL: "amqp://guest:guest@127.0.0.1:" + port + "/",
		environment: append(append(os.Environ(), environment...),
			"PATH="+home+":"+os.Getenv("PATH"), "HOME="+directory, "RABBITMQ_NODENAME=wakecall"+port+"@localhost",
			"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
			"RABBITMQ_NODE_PORT="+port, "RABBITMQ_DIST_PORT="+distribution, "ERL_EPMD_PORT="+mapper, "ERL_EPMD_ADDRESS=127.0.0.1",
			"RABBITMQ_MNESIA_BASE="+directory+"/data", "RABBITMQ_LOG_BASE="+directory+"/log",
			"RABBITMQ_CONFIG_FILE="+directory+"/rabbitmq.conf", "RABBITMQ_ENABLED_PLUGINS_FILE="+directory+"/plugins",
			"RABBITMQ_PID_FILE="+directory+"/pid", "ERL_CRASH_DUMP="+directory+"/erl_crash.dump",
			"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
		),
	}
	s.write("rabbitmq.conf", "listeners.tcp.default = 127.0.0.1:"+port+
		"\nvm_memory_high_watermark.relative = 0.4\ndisk_free_limit.absolute = 1MB\n")
	s.write("plugins", "[].\n")
	names := exec.Command("epmd", "-port", mapper, "-address", "127.0.0.1") // RabbitMQ would leave its own running
	names.Env = s.environment
	if err := names.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill() // its data is no longer needed
		_ = names.Process.Kill()
		_ = names.Wait()
		_ = os.RemoveAll(directory)
	})
	s.Restart()
	return s
}

// BrokersFile returns a file for WAKECALL_BROKERS with one broker, main, at a URL.
func BrokersFile(t testing.TB, url string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "brokers.json")
	if err := os.WriteFile(name, fmt.Appendf(nil, `{"brokers": [{"name": "main", "url": %q}]}`, url), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s *Server) write(name, text string) {
	if err := os.WriteFile(filepath.Join(s.directory, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts the stopped server with its data.
func (s *Server) Restart() {
	s.t.Helper()
	s.node = exec.Command(s.program)
	s.node.Env = s.environment
	s.node.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := os.Create(filepath.Join(s.directory, "output"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	s.node.Stdout, s.node.Stderr = output, output
	if err := s.node.Start(); err != nil {
		s.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func(node *exec.Cmd) {
		defer close(exited)
		_ = node.Wait()
	}(s.node)
	s.exited = exited
	if s.answers(startTime) {
		return
	}
	text, _ := os.ReadFile(output.Name())
	s.t.Fatalf("RabbitMQ did not start:\n%s", text)
}

// answers waits until the server accepts connections, or has exited.
func (s *Server) answers(limit time.Duration) bool {
	giveUp := time.After(limit)
	for {
		if conn, err := net.Dial("tcp", s.Address); err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-s.exited:
			return false
		case <-giveUp:
			return false
		}
	}
}

// Stop stops the server without closing its connections cleanly.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill kills the server.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(signal syscall.Signal) {
	if s.node == nil {
		return
	}
	_ = syscall.Kill(-s.node.Process.Pid, signal)
	forced := time.AfterFunc(stopTime, func() { _ = syscall.Kill(-s.node.Process.Pid, syscall.SIGKILL) })
	defer forced.Stop()
	<-s.exited
	s.node = nil
}

// freePort returns a port below Linux's range for connections and for port 0, and below the
// ports of other test servers (e2e/loopback). RabbitMQ takes it seconds later, and another test
// must not get it in the meantime.
func freePort(t testing.TB) string {
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(10_000))
		if listener, err := net.Listen("tcp", address); err == nil {
			_ = listener.Close()
			return strings.TrimPrefix(address, "127.0.0.1:")
		}
	}
	t.Fatal("no port is free")
	return ""
}

package process

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
)

// Command is a program to run.
type Command struct {
	Path string
	Args []string
	// Env is the whole environment, apart from PATH and a HOME without settings.
	Env map[string]string
	// Ready is a URL that answers 200 once the process works; tcp://… needs only a listener.
	// Without it there is no wait.
	Ready string
	// As is the user who runs the program, if not the present one.
	As *syscall.Credential
}

// Process is a running program.
type Process struct {
	t              testing.TB
	program        Command
	command        *exec.Cmd
	ready          string
	metrics        string // its address, if separate
	stdout, stderr output
	exited         chan struct{}
}

// Patience is how long a test waits for an expected event, which may be due a minute ahead. Benchmarks
// measure how soon it comes: many tests share two slow cores.
const Patience = 3 * time.Minute

// Interval is how often a waiting test looks. A look is a call of the API, and several tests wait
// at any time: at ten milliseconds they took a seventh of the processor time of a package.
const Interval = 50 * time.Millisecond

// The tests of the gate share two cores, and some of their programs have a low priority there:
// the creation of a PostgreSQL cluster, two seconds of work, has taken more than a minute.
const (
	readyWithin = Patience
	endWithin   = Patience
)

// Start runs a program and waits until it is ready.
func Start(t testing.TB, c Command) *Process {
	t.Helper()
	p := Launch(t, c)
	p.AwaitReady()
	return p
}

// Launch runs a program without a wait.
func Launch(t testing.TB, c Command) *Process {
	t.Helper()
	p := &Process{
		t: t, program: c, command: exec.Command(c.Path, c.Args...), ready: c.Ready, exited: make(chan struct{}),
		metrics: cmp.Or(c.Env["WAKECALL_METRICS_ADDR"], c.Env["PROMETHEUS_ENDPOINT"]),
	}
	p.command.Env = environment(t, c.Env)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	// A test run that is killed itself runs no cleanup.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: c.As}
	require.NoError(t, p.command.Start())
	go func() {
		defer close(p.exited)
		_ = p.command.Wait() // ProcessState tells
	}()
	t.Cleanup(p.cleanUp)
	return p
}

func environment(t testing.TB, own map[string]string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// AwaitReady waits until the process works.
func (p *Process) AwaitReady() {
	p.t.Helper()
	require.True(p.t, p.BecomesReady(), "%s ended before it was ready", p.command.Path)
}

// BecomesReady waits until the process works, or ends.
func (p *Process) BecomesReady() bool {
	p.t.Helper()
	if p.ready == "" {
		return !p.Ended()
	}
	ready := func() bool { return p.Ended() || answers(p.ready) }
	if addr, ok := strings.CutPrefix(p.ready, "tcp://"); ok {
		ready = func() bool { return p.Ended() || loopback.Listening(addr) }
	}
	require.Eventually(p.t, ready, readyWithin, Interval, "%s should become ready at %s", p.command.Path, p.ready)
	return !p.Ended()
}

var asking = &http.Client{Timeout: 5 * time.Second}

// answers reports whether a GET is answered 200.
func answers(url string) bool {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := asking.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// OpenFiles is the number of open files of the process.
func (p *Process) OpenFiles() int {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.command.Process.Pid))
	require.NoError(p.t, err)
	return len(open)
}

// Ended reports whether the process has exited.
func (p *Process) Ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Wait returns the exit code of a process that ends by itself.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(endWithin):
		require.FailNow(p.t, "the process does not end", "%s", p.command.Path)
	}
	return p.command.ProcessState.ExitCode()
}

// Stop asks the process to end, as an orchestrator does, and returns its exit
// code.
func (p *Process) Stop() int { p.t.Helper(); return p.signal(syscall.SIGTERM) }

// Again starts the program of a process that has ended, and waits until it is ready.
func (p *Process) Again() *Process { p.t.Helper(); return Start(p.t, p.program) }

// Interrupt ends the process as Ctrl-C does, and returns its exit code.
func (p *Process) Interrupt() int { p.t.Helper(); return p.signal(syscall.SIGINT) }

// Kill ends the process at once.
func (p *Process) Kill() { p.t.Helper(); p.signal(syscall.SIGKILL) }

// URL is the base URL of the process's readiness page and of all its other pages.
func (p *Process) URL() string {
	page, err := url.Parse(p.ready)
	require.NoError(p.t, err)
	page.Path = ""
	return page.String()
}

// Metrics is the process's page /metrics.
func (p *Process) Metrics() (text string, err error) {
	base := "http://" + p.metrics
	if p.metrics == "" {
		base = p.URL()
	}
	response, err := http.Get(base + "/metrics")
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return string(raw), err
}

// Freeze stops the process, and leaves its connections open.
func (p *Process) Freeze() { p.t.Helper(); p.send(syscall.SIGSTOP) }

// Thaw resumes a frozen process.
func (p *Process) Thaw() { p.t.Helper(); p.send(syscall.SIGCONT) }

// PID is the id of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

func (p *Process) send(signal syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.command.Process.Signal(signal))
}

func (p *Process) signal(signal syscall.Signal) int {
	p.t.Helper()
	p.send(signal)
	return p.Wait()
}

// Stdout is the process's standard output.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr is the process's standard error.
func (p *Process) Stderr() string { return p.stderr.String() }

func (p *Process) cleanUp() {
	_ = p.command.Process.Kill()
	<-p.exited
	if p.t.Failed() {
		p.t.Logf("%s wrote:\n%s%s", p.command.Path, p.Stdout(), p.Stderr())
	}
}

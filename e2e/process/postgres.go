package process

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
)

// Postgres is a PostgreSQL server with a fresh cluster.
type Postgres struct {
	*Process
	Addr string

	t         testing.TB
	bin       string
	data      string
	as        *syscall.Credential
	superuser *url.Userinfo
	// settings are added to those of Start, and win.
	settings []string
}

// NewPostgres makes a cluster whose superuser has the given password, and runs its server, with
// more settings (name=value) if given. It uses the newest PostgreSQL of Debian's packages.
func NewPostgres(t testing.TB, superuser, password string, settings ...string) *Postgres {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	require.NoError(t, err)
	require.NotEmpty(t, found, "this test needs a real PostgreSQL: apt-get install postgresql")
	p := &Postgres{
		t: t, bin: filepath.Dir(found[len(found)-1]), Addr: loopback.Addr(), as: unprivileged(t),
		superuser: url.UserPassword(superuser, password), settings: settings,
	}
	dir := p.directory()
	p.data = filepath.Join(dir, "data")
	secret := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(secret, []byte(password), 0o644)) // in a private directory
	p.run("initdb", "--pgdata", p.data, "--username", superuser, "--pwfile", secret,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	p.Start()
	return p
}

// URL is the superuser's URL of a database.
func (p *Postgres) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: p.superuser, Host: p.Addr, Path: database, RawQuery: "sslmode=disable"}).String()
}

// directory is a directory that the server's user may enter.
func (p *Postgres) directory() string {
	dir, err := os.MkdirTemp("", "wakecall-postgres-")
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, os.RemoveAll(dir)) })
	if p.as != nil {
		require.NoError(p.t, os.Chown(dir, int(p.as.Uid), int(p.as.Gid)))
	}
	return dir
}

// unprivileged is PostgreSQL's user if the tests run as root: it refuses to run as root.
func unprivileged(t testing.TB) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	require.NoError(t, err)
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// Start runs the server until it accepts connections.
func (p *Postgres) Start() {
	p.t.Helper()
	host, port, err := net.SplitHostPort(p.Addr)
	require.NoError(p.t, err)
	args := []string{
		"-D", p.data, "-h", host, "-p", port,
		"-c", "unix_socket_directories=",
		"-c", "fsync=off", // no test cuts the power
	}
	for _, setting := range p.settings {
		args = append(args, "-c", setting)
	}
	require.Eventually(p.t, func() bool { return loopback.Free(p.Addr) }, readyWithin, Interval,
		"a child of a server that was stopped at once may outlive it for a moment")
	p.Process = Start(p.t, Command{Path: filepath.Join(p.bin, "postgres"), As: p.as, Ready: "tcp://" + p.Addr, Args: args})
	accepts := func() bool {
		return exec.Command(filepath.Join(p.bin, "pg_isready"), "--host", host, "--port", port).Run() == nil
	}
	require.Eventually(p.t, accepts, readyWithin, Interval, "PostgreSQL should recover and take connections")
}

func (p *Postgres) run(program string, args ...string) {
	p.t.Helper()
	done := Launch(p.t, Command{Path: filepath.Join(p.bin, program), Args: args, As: p.as})
	require.Zero(p.t, done.Wait(), "%s", done.Stderr())
}

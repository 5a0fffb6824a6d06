// Package hostile tests Wakecall against hostile receivers, name servers and certificates.
// It needs its own process for two reasons: it changes the process's resolver and proxies,
// and it measures the memory of the process.
package hostile

import (
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/wakecall/wakecall/e2e/testenv"
)

var (
	temporalAddr string
	// proxy is the proxy in the environment; it must not get a connection.
	proxy net.Listener
	ca    *authority
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Receivers must misbehave all at once, on any number of processors.
	flag.Parse()
	err := flag.Set("test.parallel", "12")
	if err != nil {
		return fail(err)
	}
	if ca, err = newAuthority("Wakecall's test authority"); err != nil {
		return fail(err)
	}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: names.dial}
	if proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fail(err)
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		if err := os.Setenv(name, "http://"+proxy.Addr().String()); err != nil {
			return fail(err)
		}
	}
	dir, err := os.MkdirTemp("", "wakecall-hostile-")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	addr, stop, err := testenv.Temporal(dir)
	if err != nil {
		return fail(err)
	}
	defer stop()
	temporalAddr = addr
	code := m.Run()
	if leaked := testenv.Leaked(); code == 0 && len(leaked) > 0 {
		return fail(fmt.Errorf("goroutines of ours outlived their test environment:\n%s", strings.Join(leaked, "\n\n")))
	}
	return code
}

// allowed are the addresses that callbacks may reach; the rest of loopback is as forbidden
// as a metadata service.
var allowed = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/standalone/embedded"
)

// settings are the settings of the standalone form, beside those of its roles.
type settings struct {
	TemporalAddr   string        `env:"WAKECALL_TEMPORAL_ADDR" envDefault:"127.0.0.1:7233" help:"where the embedded Temporal listens, an IP and a port"`
	UIAddr         string        `env:"WAKECALL_UI_ADDR" envDefault:"127.0.0.1:8233" help:"where Temporal's Web UI listens"`
	TemporalPublic bool          `env:"WAKECALL_TEMPORAL_PUBLIC" envDefault:"false" help:"true lets the embedded Temporal and its Web UI listen beyond loopback; they ask for no key"`
	DataDir        string        `env:"WAKECALL_DATA_DIR" envDefault:"./data" help:"directory of everything that survives a restart"`
	Retention      time.Duration `env:"WAKECALL_RETENTION" envDefault:"720h" help:"how long finished timers are kept: the deduplication window; a change counts for timers that end from then on"`
	Shards         int           `env:"WAKECALL_HISTORY_SHARDS" envDefault:"4" help:"Temporal's history shards; fixed when the data directory is made, and a start with another number is refused"`
}

// The shortest retention in Temporal, and the largest useful number of shards in one process.
const (
	minRetention = time.Hour
	maxShards    = 512
)

// ofGateways are settings for several processes.
var ofGateways = []string{"WAKECALL_REDIS_URL", "WAKECALL_REDIS_URL_FILE"}

// Check implements [config.Settings].
func (s settings) Check(f *config.Faults) {
	for _, name := range ofGateways {
		if _, said := os.LookupEnv(name); said {
			f.Add(name, "is for limits that several gateways share; wakecall-standalone is one process and must not set it")
		}
	}
	for name, addr := range map[string]string{"WAKECALL_TEMPORAL_ADDR": s.TemporalAddr, "WAKECALL_UI_ADDR": s.UIAddr} {
		loopback, err := config.Loopback(addr)
		switch {
		case err != nil:
			f.Add(name, "%w", err)
		case anyPort(addr):
			f.Add(name, "must name a port, not 0: others connect to it")
		case !loopback && !s.TemporalPublic && !f.Has("WAKECALL_TEMPORAL_PUBLIC"):
			f.Add(name, "Temporal has no login: a caller can read every payload and send callbacks anywhere; "+
				"an address beyond loopback needs WAKECALL_TEMPORAL_PUBLIC=true")
		}
	}
	if _, err := netip.ParseAddrPort(s.TemporalAddr); err != nil {
		f.Add("WAKECALL_TEMPORAL_ADDR", "must be an IP and a port")
	}
	if s.DataDir == "" {
		f.Add("WAKECALL_DATA_DIR", "must name a directory")
	}
	if s.Retention < minRetention {
		f.Add("WAKECALL_RETENTION", "must be %s or more", minRetention)
	}
	if s.Shards < 1 || s.Shards > maxShards {
		f.Add("WAKECALL_HISTORY_SHARDS", "must be from 1 to %d", maxShards)
	}
}

// anyPort reports whether an address leaves its port to the system. Temporal's clients and the links to
// the Web UI could not tell which one it took.
func anyPort(addr string) bool {
	_, port, _ := net.SplitHostPort(addr)
	number, err := net.LookupPort("tcp", port)
	return err == nil && number == 0
}

func (s settings) options(webUI string) embedded.Options {
	var names []string
	if address, err := url.Parse(webUI); err == nil && webUI != "" {
		names = append(names, strings.ToLower(address.Hostname()))
	}
	return embedded.Options{
		UINames: names,
		Addr:    s.TemporalAddr, UIAddr: s.UIAddr, DataDir: s.DataDir, Namespace: client.DefaultNamespace,
		Retention: s.Retention, Shards: s.Shards, Synchronous: "full", SearchAttributes: namespace.SearchAttributes(),
	}
}

// complete sets defaults for newcomers: a secret key in the data directory, callbacks to this
// machine, links to the Web UI.
func (s settings) complete(c config.Config) (config.Config, error) {
	if c.WebUI == "" {
		c.WebUI = "http://" + reachable(s.UIAddr)
	}
	if len(c.CallbackAllow) == 0 {
		c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	c.StopTimeout = min(c.StopTimeout, stopTime/3)
	if c.SecretKey != "" {
		return c, nil
	}
	var err error
	c.SecretKey, err = secretKey(filepath.Join(s.DataDir, embedded.KeyFile))
	return c, err
}

// reachable returns an address to connect to, in place of an unspecified one.
func reachable(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

func secretKey(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		key := seal.NewKey()
		// A half-written key would lock away everything sealed before.
		return key, renameio.WriteFile(file, []byte(key+"\n"), 0o600)
	}
	if err != nil {
		return "", err
	}
	key := strings.Join(strings.Fields(string(text)), ",") // one key a line; the first one seals
	if key == "" {
		return "", fmt.Errorf("%s is empty: restore it from a backup, or remove it and store the policies with secrets again", file)
	}
	if _, err := seal.New(key); err != nil {
		return "", fmt.Errorf("%s: %w: restore it from a backup, or remove it and store the policies with secrets again", file, err)
	}
	return key, nil
}

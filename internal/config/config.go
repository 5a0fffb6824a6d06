// Package config reads Wakecall's own settings from the environment. The SDK's envconfig reads
// the connection to Temporal, with the same variables as the temporal CLI.
package config

import (
	"crypto/x509"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/certs"
	"github.com/wakecall/wakecall/internal/seal"
)

// Config holds every setting of the roles api, worker and serve. docs/configuration.md repeats
// the help texts. A secret may be in a file named by NAME_FILE.
type Config struct {
	HTTPAddr string     `env:"WAKECALL_HTTP_ADDR" envDefault:"127.0.0.1:8080" help:"where the API listens"`
	APIKeys  []auth.Key `env:"WAKECALL_API_KEYS" secret:"true" help:"comma-separated API keys that are let in, each name:sha256-hex, or name:sha256-hex:role:types (docs/security.md); without any way to show who calls, the API listens on loopback only"`

	OIDCIssuer   string         `env:"WAKECALL_OIDC_ISSUER" help:"URL of the identity provider (OpenID Connect) whose tokens are let in beside API keys (docs/sign-in.md); none by default"`
	OIDCAudience string         `env:"WAKECALL_OIDC_AUDIENCE" help:"the audience that such a token must name"`
	OIDCRoles    []auth.Mapping `env:"WAKECALL_OIDC_ROLES" help:"comma-separated roles of the provider's groups, each group=role:types"`
	OIDCGroups   string         `env:"WAKECALL_OIDC_GROUPS_CLAIM" envDefault:"groups" help:"the claim of a token that has its groups; dots lead into objects, as in realm_access.roles"`

	OIDCClientID     string `env:"WAKECALL_OIDC_CLIENT_ID" help:"what the provider knows the console as, whose users it then signs in by their browser (docs/console.md); none by default"`
	OIDCClientSecret string `env:"WAKECALL_OIDC_CLIENT_SECRET" secret:"true" help:"the secret of that client; none for one that the provider registered as public"`

	TLSCert     string         `env:"WAKECALL_TLS_CERT_FILE" help:"file with the certificate of the API in PEM, and those between it and its authority; with it the API speaks TLS only; read anew when it changes"`
	TLSKey      string         `env:"WAKECALL_TLS_KEY_FILE" help:"file with the key of that certificate; read anew when it changes"`
	TLSClientCA string         `env:"WAKECALL_TLS_CLIENT_CA_FILE" help:"file with the authorities whose client certificates are let in beside API keys; read anew when it changes"`
	TLSRoles    []auth.Mapping `env:"WAKECALL_TLS_ROLES" help:"comma-separated roles of client certificates, each common-name=role:types"`

	Proxies []netip.Prefix `env:"WAKECALL_TRUSTED_PROXIES" help:"comma-separated networks (CIDR) of the proxies in front of the API, whose X-Forwarded-For is believed in the log and the audit; none by default"`
	WebUI   string         `env:"WAKECALL_WEB_UI_URL" help:"base URL of Temporal's Web UI, for the links in answers"`

	Audit     string `env:"WAKECALL_AUDIT" envDefault:"off" help:"where the API writes one line of JSON for each call that changes something (docs/audit.md): off, stdout or the absolute path of a file; a call that cannot be recorded is not carried out"`
	AuditType string `env:"WAKECALL_AUDIT_TYPE" help:"business type whose timers deliver the same records as signed events (docs/audit.md); none by default"`

	Console        string `env:"WAKECALL_CONSOLE" envDefault:"on" help:"on, read-only or off: whether the API has pages for people at /console/ (docs/console.md), and whether they may change anything"`
	Name           string `env:"WAKECALL_NAME" help:"name of this installation, at the top of the console"`
	ConsoleColour  string `env:"WAKECALL_CONSOLE_COLOUR" help:"colour of the bar at the top of the console, which tells installations apart: blue, green, grey, orange, purple or red; none by default"`
	ConsoleContact string `env:"WAKECALL_CONSOLE_CONTACT" help:"the contact that the console names for what a user may not do"`

	SecretKey     string         `env:"WAKECALL_SECRET_KEY" secret:"true" help:"base64 of 32 bytes that seals signing secrets and header values; of several, separated by commas, the first seals and all open; the same for api and worker"`
	CallbackAllow []netip.Prefix `env:"WAKECALL_CALLBACK_ALLOW" help:"comma-separated private networks (CIDR) that callbacks may reach; none by default; the same for api and worker"`
	CallbackCA    string         `env:"WAKECALL_CALLBACK_CA_FILE" help:"file with certificates in PEM that may sign a receiver's, beside those of the system; a policy may add its own"`
	Brokers       string         `env:"WAKECALL_BROKERS" help:"file in JSON that names the RabbitMQ brokers that policies and timers may name (docs/rabbitmq.md); none by default; the same for api and worker"`

	PolicyTTL         time.Duration `env:"WAKECALL_POLICY_TTL" envDefault:"3s" help:"how long a policy that was read is trusted, and how often a worker looks for new ones"`
	ReconcileInterval time.Duration `env:"WAKECALL_RECONCILE_INTERVAL" envDefault:"1m" help:"how often a worker looks for timers that are overdue by as much with nothing under way, and wakes them; 0s for never"`
	Canary            string        `env:"WAKECALL_CANARY" envDefault:"on" help:"on or off: whether a gateway books a small timer once a minute, and tells if it does not ring (docs/operations.md)"`
	StopTimeout       time.Duration `env:"WAKECALL_STOP_TIMEOUT" envDefault:"65s" help:"how long a stopping worker, or a gateway with receivers that poll, waits for attempts in flight; above the longest attempt timeout, or a deploy makes duplicates"`
	MetricsAddr       string        `env:"WAKECALL_METRICS_ADDR" help:"where /metrics and /livez are served beside the API; the role worker serves them at 127.0.0.1:9090 unless told otherwise, the API on its own address"`
	PrometheusURL     string        `env:"WAKECALL_PROMETHEUS_URL" help:"base URL of a Prometheus that has the metrics of all workers, from which the console and GET /v1/outcomes read how late timers rang; without one, a process knows its own attempts only"`
	LogLevel          string        `env:"WAKECALL_LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// Destinations of the audit other than a file. The empty text means off.
const (
	AuditOff    = "off"
	AuditStdout = "stdout"
)

// The values of WAKECALL_CANARY. The empty text means on.
const (
	canaryOn  = "on"
	CanaryOff = "off"
)

// maxPolicyTTL bounds the time until a changed policy is in force.
const maxPolicyTTL = 10 * time.Second

// Load reads the environment, and checks everything before anything is opened. Its error names
// every wrong variable.
func Load() (config Config, err error) {
	err = Read(&config)
	return config, err
}

// Check implements [Settings].
func (c Config) Check(f *Faults) {
	if _, err := seal.New(c.SecretKey); err != nil {
		f.Add("WAKECALL_SECRET_KEY", "%w", err)
	}
	if err := checkBundle(c.CallbackCA); err != nil {
		f.Add("WAKECALL_CALLBACK_CA_FILE", "%w", err)
	}
	if _, err := ReadBrokers(c.Brokers); err != nil {
		f.Add("WAKECALL_BROKERS", "%w", err)
	}
	c.checkAudit(f)
	c.checkConsole(f)
	if err := auth.CheckKeys(c.APIKeys); err != nil {
		f.Add("WAKECALL_API_KEYS", "%w", err)
	}
	c.checkOIDC(f)
	c.checkTLS(f)
	loopback, err := Loopback(c.HTTPAddr)
	switch {
	case err != nil:
		f.Add("WAKECALL_HTTP_ADDR", "%w", err)
	case !loopback && !c.AsksWho() && !f.Has("WAKECALL_API_KEYS"):
		f.Add("WAKECALL_HTTP_ADDR", "an address beyond loopback needs WAKECALL_API_KEYS, WAKECALL_OIDC_ISSUER or WAKECALL_TLS_CLIENT_CA_FILE")
	}
	if _, err := Loopback(c.MetricsAddr); c.MetricsAddr != "" && err != nil {
		f.Add("WAKECALL_METRICS_ADDR", "%w", err)
	}
	if c.WebUI != "" && !isWebAddress(c.WebUI) {
		f.Add("WAKECALL_WEB_UI_URL", "must be http://… or https://…")
	}
	if c.PrometheusURL != "" && !isWebAddress(c.PrometheusURL) {
		f.Add("WAKECALL_PROMETHEUS_URL", "must be http://… or https://…")
	}
	if c.PolicyTTL < 0 || c.PolicyTTL > maxPolicyTTL {
		f.Add("WAKECALL_POLICY_TTL", "must be from 0s to %s", maxPolicyTTL)
	}
	if c.ReconcileInterval < 0 {
		f.Add("WAKECALL_RECONCILE_INTERVAL", "must not be negative")
	}
	if c.StopTimeout < 0 {
		f.Add("WAKECALL_STOP_TIMEOUT", "must not be negative")
	}
	if c.Canary != "" && c.Canary != canaryOn && c.Canary != CanaryOff {
		f.Add("WAKECALL_CANARY", "must be %s or %s", canaryOn, CanaryOff)
	}
	if err := new(slog.Level).UnmarshalText([]byte(c.LogLevel)); err != nil {
		f.Add("WAKECALL_LOG_LEVEL", "must be debug, info, warn or error")
	}
}

func (c Config) checkAudit(f *Faults) {
	if c.Audit != "" && c.Audit != AuditOff && c.Audit != AuditStdout && !filepath.IsAbs(c.Audit) {
		f.Add("WAKECALL_AUDIT", "must be %s, %s or an absolute path", AuditOff, AuditStdout)
	}
	if c.AuditType != "" && wire.CheckBusinessType(c.AuditType) != nil {
		f.Add("WAKECALL_AUDIT_TYPE", "must be the name of a business type")
	}
}

// checkBundle returns why a file is not a bundle of certificates. No file is valid.
func checkBundle(file string) error {
	if file == "" {
		return nil
	}
	return certs.AddBundle(x509.NewCertPool(), file)
}

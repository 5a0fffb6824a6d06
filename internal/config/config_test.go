package config_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/seal"
)

const (
	digest      = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	otherDigest = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
)

func TestDefaults(t *testing.T) {
	c, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.HTTPAddr)
	require.Empty(t, c.CallbackAllow, "no private address can be called back by default")
}

// wrong maps each variable to an invalid value.
var wrong = map[string]string{
	"WAKECALL_HTTP_ADDR": "nowhere", "WAKECALL_API_KEYS": "ops:" + digest[1:], "WAKECALL_WEB_UI_URL": "127.0.0.1:8233",
	"WAKECALL_SECRET_KEY": "c2hvcnQ=", "WAKECALL_CALLBACK_ALLOW": "10.0.0.0", "WAKECALL_TRUSTED_PROXIES": "10.0.0.1/33", "WAKECALL_POLICY_TTL": "1h",
	"WAKECALL_RECONCILE_INTERVAL": "-1s", "WAKECALL_STOP_TIMEOUT": "soon", "WAKECALL_CANARY": "perhaps",
	"WAKECALL_METRICS_ADDR": "127.0.0.1:99999", "WAKECALL_LOG_LEVEL": "loud", "WAKECALL_PROMETHEUS_URL": "prometheus:9090", "WAKECALL_CALLBACK_CA_FILE": "config_test.go", "WAKECALL_BROKERS": "config_test.go",
	"WAKECALL_OIDC_ISSUER": "http://id.example", "WAKECALL_OIDC_AUDIENCE": "two words", "WAKECALL_OIDC_ROLES": "ops", "WAKECALL_OIDC_GROUPS_CLAIM": "groups.",
	"WAKECALL_OIDC_CLIENT_ID": "two words", "WAKECALL_OIDC_CLIENT_SECRET": "of two words",
	"WAKECALL_TLS_CERT_FILE": "config_test.go", "WAKECALL_TLS_KEY_FILE": "config_test.go", "WAKECALL_TLS_CLIENT_CA_FILE": "config_test.go", "WAKECALL_TLS_ROLES": "ops=all",
	"WAKECALL_AUDIT": "audit.log", "WAKECALL_AUDIT_TYPE": "Audit",
	"WAKECALL_CONSOLE": "readonly", "WAKECALL_NAME": "two\nlines", "WAKECALL_CONSOLE_COLOUR": "mauve", "WAKECALL_CONSOLE_CONTACT": "\x01",
}

// One answer names every error, a line each, by the operator's name for it.
func TestEverythingWrongIsNamed(t *testing.T) {
	settings := reflect.TypeFor[config.Config]()
	require.Len(t, wrong, settings.NumField(), "every setting has a wrong value")
	for name, value := range wrong {
		t.Setenv(name, value)
	}
	t.Setenv("WAKECALL_RETENTON", "1h")
	_, err := config.Load()
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, len(wrong)+1, "%s", err)
	for name := range wrong {
		require.Contains(t, err.Error()+"\n", name+": ")
	}
	for _, secret := range []string{"c2hvcnQ", digest[1:], "of two"} {
		require.NotContains(t, err.Error(), secret, "what may be a secret is not shown")
	}
}

func TestOneWrongValueIsOneLine(t *testing.T) {
	for name, value := range wrong {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := config.Load()
			require.ErrorContains(t, err, name+": ")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for name, likely := range map[string]string{
		"WAKECALL_HTPP_ADDR":      "did you mean WAKECALL_HTTP_ADDR?",
		"WAKECALL_API_KEYS_FLIE":  "did you mean WAKECALL_API_KEYS_FILE?",
		"WAKECALL_SECRETKEY":      "did you mean WAKECALL_SECRET_KEY?",
		"WAKECALL_POLICY_TTL_SEC": "did you mean WAKECALL_POLICY_TTL?",
		"WAKECALL_COLOUR":         "there is no such setting",
		"WAKECALL_LOG_LEVEL_FILE": "there is no such setting", // not a secret
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "")
			_, err := config.Load()
			require.ErrorContains(t, err, name+": ")
			require.ErrorContains(t, err, likely)
		})
	}
}

// Kubernetes sets variables for services in every container, and a client's settings are often
// beside the server's.
func TestNamesOfOthersAreLeft(t *testing.T) {
	for _, name := range []string{
		"WAKECALL_SERVICE_HOST", "WAKECALL_API_SERVICE_PORT", "WAKECALL_API_SERVICE_PORT_HTTP", "WAKECALL_PORT", "WAKECALL_PORT_8080_TCP",
		"WAKECALL_WORKER_PORT_9090_TCP_ADDR", "WAKECALL_URL", "WAKECALL_API_KEY",
	} {
		t.Setenv(name, "tcp://10.0.0.1:80")
	}
	_, err := config.Load()
	require.NoError(t, err)
}

var (
	madeName = regexp.MustCompile(`WAKECALL_[A-Z_]+`)
	readName = regexp.MustCompile(`Getenv\("(WAKECALL_[A-Z_]+)"\)`)
)

// Names of the Makefile and the tests are allowed beside those of a role.
func TestNamesOfTheTestsAreLeft(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	names := madeName.FindAllString(string(makefile), -1)
	require.NoError(t, filepath.WalkDir("../../e2e", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range readName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
		return err
	}))
	require.Contains(t, names, "WAKECALL_RINGS", "the oracle sees names")
	for _, name := range names {
		t.Setenv(name, "")
	}
	_, err = config.Load()
	if err != nil { // an empty setting may be wrong
		require.NotContains(t, err.Error(), "there is no such setting")
	}
}

func secretFile(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestSecretsFromFiles(t *testing.T) {
	key := seal.NewKey()
	t.Setenv("WAKECALL_SECRET_KEY_FILE", secretFile(t, key+"\n"))
	t.Setenv("WAKECALL_API_KEYS_FILE", secretFile(t, "ops:"+digest+"\nci:"+otherDigest+":operator:order+invoice\n"))
	c, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, key, c.SecretKey)
	require.Len(t, c.APIKeys, 2)
	require.Equal(t, []string{"order", "invoice"}, c.APIKeys[1].Principal.Grants[0].Types)
}

func TestBadSecretFilesAreNamed(t *testing.T) {
	missing, empty, short := filepath.Join(t.TempDir(), "missing"), secretFile(t, "\n"), secretFile(t, "c2hvcnQ=")
	for name, c := range map[string]struct{ file, want string }{
		"missing":   {missing, "WAKECALL_SECRET_KEY_FILE: open " + missing},
		"directory": {t.TempDir(), "is a directory"},
		"empty":     {empty, "WAKECALL_SECRET_KEY_FILE: " + empty + ": the file is empty"},
		"no key":    {short, "WAKECALL_SECRET_KEY_FILE: " + short + ": a secret key is the base64 of 32 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WAKECALL_SECRET_KEY_FILE", c.file)
			_, err := config.Load()
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "c2hvcnQ")
		})
	}
	t.Setenv("WAKECALL_SECRET_KEY_FILE", short)
	t.Setenv("WAKECALL_SECRET_KEY", seal.NewKey())
	_, err := config.Load()
	require.ErrorContains(t, err, "set one of the two")
}

func TestBeyondLoopbackNeedsKeys(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:8080", ":8080", "10.0.0.1:80", "example.com:80"} {
		t.Setenv("WAKECALL_HTTP_ADDR", addr)
		_, err := config.Load()
		require.ErrorContains(t, err, "needs WAKECALL_API_KEYS, WAKECALL_OIDC_ISSUER or WAKECALL_TLS_CLIENT_CA_FILE", addr)
	}
	t.Setenv("WAKECALL_API_KEYS", "ops:"+digest+",ci:"+otherDigest)
	c, err := config.Load()
	require.NoError(t, err)
	require.Len(t, c.APIKeys, 2)
	require.Equal(t, "ci", c.APIKeys[1].Principal.Name)
}

func TestAKeyThatTwoEntriesShareIsRefused(t *testing.T) {
	t.Setenv("WAKECALL_API_KEYS", "ops:"+digest+",shop:"+digest+":operator:order")
	_, err := config.Load()
	require.ErrorContains(t, err, "WAKECALL_API_KEYS: two entries have the same API key")
	require.NotContains(t, err.Error(), digest)
}

func TestLoopbackNeedsNone(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:80", "localhost:80"} {
		t.Setenv("WAKECALL_HTTP_ADDR", addr)
		_, err := config.Load()
		require.NoError(t, err, addr)
	}
}

func TestSecretKeyIsTaken(t *testing.T) {
	t.Setenv("WAKECALL_SECRET_KEY", seal.NewKey())
	_, err := config.Load()
	require.NoError(t, err)
}

// docs/configuration.md matches the settings, row by row.
func TestDocumentationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	settings := reflect.TypeFor[config.Config]()
	for i := range settings.NumField() {
		tag := settings.Field(i).Tag
		row := fmt.Sprintf("| `%s` | %s | %s |", tag.Get("env"), defaultOf(tag), tag.Get("help"))
		require.Contains(t, string(page), row)
	}
	require.Equal(t, settings.NumField(), strings.Count(section(string(page), "## Roles"), "\n| `WAKECALL_"), "no row too many")
}

func defaultOf(tag reflect.StructTag) string {
	if value := tag.Get("envDefault"); value != "" {
		return "`" + value + "`"
	}
	return ""
}

// section is the part of a page under one heading.
func section(page, heading string) string {
	_, rest, _ := strings.Cut(page, heading)
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

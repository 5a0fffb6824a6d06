package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// unread are the settings that the compose file leaves to an override, each with its reason.
var unread = map[string]string{
	"WAKECALL_TLS_CERT_FILE":      "the profile tls has the certificate",
	"WAKECALL_TLS_KEY_FILE":       "the profile tls has the key",
	"WAKECALL_TLS_CLIENT_CA_FILE": "nginx ends TLS",
	"WAKECALL_TLS_ROLES":          "nginx ends TLS",
	"WAKECALL_POLICY_TTL":         "its default is right for almost every installation",
	"WAKECALL_RECONCILE_INTERVAL": "its default is right for almost every installation",
	"WAKECALL_STOP_TIMEOUT":       "stop_grace_period must be longer",
}

// A setting of gateways and workers can be set in .env, or has a reason.
func TestTheComposeFileReadsTheSettings(t *testing.T) {
	t.Parallel()
	environment := composed(t).Services["wakecall"].Environment
	for name := range knownSettings() {
		if name == "" {
			continue // a part of several
		}
		_, plain := environment[name]
		_, file := environment[name+"_FILE"]
		if base, secret := strings.CutSuffix(name, "_FILE"); secret && knownSettings()[base] {
			continue // the other form of a setting
		}
		require.Equal(t, plain || file, unread[name] == "", name)
	}
}

var (
	// settingRow is the first cell of a row on settings, and settingName one of its names.
	settingRow  = regexp.MustCompile("(?m)^\\| ((?:`[A-Z_]+`(?:, )?)+) \\|")
	settingName = regexp.MustCompile("`([A-Z_]+)`")
	// settingRead is a setting that the compose file reads.
	settingRead = regexp.MustCompile(`\$\{([A-Z_]+):-`)
)

// settingsOf returns the settings in the table of a page. A name that begins with "_" is one of sign-in.
func settingsOf(page string) (names []string) {
	for _, row := range settingRow.FindAllStringSubmatch(page, -1) {
		for _, found := range settingName.FindAllStringSubmatch(row[1], -1) {
			name := found[1]
			if strings.HasPrefix(name, "_") {
				name = "WAKECALL_OIDC" + name
			}
			names = append(names, name)
		}
	}
	return names
}

// The settings of the page on production are those that the compose file reads.
func TestThePageHasTheSettingsOfTheComposeFile(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(checkout, "docs", "production.md"))
	require.NoError(t, err)
	compose, err := os.ReadFile(process.ComposeFile())
	require.NoError(t, err)
	read := map[string]bool{"COMPOSE_PROFILES": true} // by Docker Compose itself
	for _, found := range settingRead.FindAllStringSubmatch(string(compose), -1) {
		read[found[1]] = true
		require.Contains(t, string(page), strings.TrimPrefix(found[1], "WAKECALL_OIDC"), "the page names it")
	}
	named := settingsOf(string(page))
	require.Greater(t, len(named), 15, "the oracle sees settings")
	for _, name := range named {
		require.True(t, read[name], "the compose file does not read %s", name)
	}
	require.Equal(t, []string{"A", "WAKECALL_OIDC_B"}, settingsOf("| `A`, `_B` | c |\n| `d` | `E` |\n"))
}

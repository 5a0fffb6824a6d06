package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

func TestUnitsAreUnderstood(t *testing.T) {
	t.Parallel()
	for unit, program := range map[string]string{"wakecall-standalone": "wakecall-standalone", "wakecall": "wakecall serve"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			understood(t, unit+".service", "ExecStart=/usr/local/bin/"+program+"\n")
		})
	}
}

func understood(t *testing.T, unit, program string) {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("this machine has no systemd")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", unit))
	require.NoError(t, err)
	require.Contains(t, string(text), program)
	verify := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), unit)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, program, "ExecStart=/bin/true\n", 1)), 0o600))
		output, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
		if err == nil {
			return string(output) + process.Execute(t, analyze, "security", "--offline=true", "--threshold=15", file), nil
		}
		return string(output), err
	}
	for name, text := range map[string]string{"as it is": string(text), "with every credential": withCredentials(string(text))} {
		output, err := verify(text)
		require.NoError(t, err, "%s: %s", name, output)
		require.NotContains(t, output, "Unknown", name)
	}
	output, _ := verify(strings.Replace(withCredentials(string(text)), "LoadCredential=", "LoadCredentials=", 1))
	require.Contains(t, output, "LoadCredentials", "the offers are uncommented")
	output, _ = verify(strings.Replace(string(text), "ProtectHome=yes", "ProtectHomes=yes", 1))
	require.Contains(t, output, "ProtectHomes", "what nobody understands is seen")
}

var (
	offered    = regexp.MustCompile(`(?m)^#((?:LoadCredential|Environment)=)`)
	credential = regexp.MustCompile(`(?m)^LoadCredential=([\w.-]+):/etc/wakecall/([\w.-]+)$`)
	handedOver = regexp.MustCompile(`(?m)^Environment=(WAKECALL_\w+)=%d/([\w.-]+)$`)
)

// withCredentials is a unit with its commented credentials enabled.
func withCredentials(unit string) string { return offered.ReplaceAllString(unit, "$1") }

// The user of a unit may not enter the directory of settings, which only root may. So every
// file in a setting is offered as a credential, and the page on installing a unit says so.
func TestUnitsOfferTheirFilesAsCredentials(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(checkout, "docs", "production.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), "install -d -m 700 /etc/wakecall ")
	brokers, err := os.ReadFile(filepath.Join(checkout, "docs", "rabbitmq.md"))
	require.NoError(t, err)
	require.NotContains(t, string(brokers), `"/etc/wakecall/rabbit-ca.pem"`, "nobody but root can read it there")
	require.Contains(t, string(brokers), "/run/credentials/wakecall.service/rabbit-ca.pem")
	for unit, without := range map[string]string{"wakecall": "", "wakecall-standalone": "WAKECALL_REDIS_URL_FILE"} {
		text, err := os.ReadFile(filepath.Join(checkout, "deploy", unit+".service"))
		require.NoError(t, err)
		require.Contains(t, string(text), "\nDynamicUser=yes\n")
		loaded, offers := map[string]bool{}, withCredentials(string(text))
		for _, found := range credential.FindAllStringSubmatch(offers, -1) {
			require.Equal(t, found[1], found[2], "a credential has the name of its file")
			loaded[found[1]] = true
		}
		told := map[string]bool{}
		for _, found := range handedOver.FindAllStringSubmatch(offers, -1) {
			require.True(t, loaded[found[2]], "%s: %s is not loaded", unit, found[2])
			told[found[1]] = true
		}
		files := 0
		for name := range knownSettings() {
			if file := strings.HasSuffix(name, "_FILE") || name == "WAKECALL_BROKERS"; file && name != without {
				require.True(t, told[name], "%s: %s is not offered", unit, name)
				files++
			}
		}
		require.Len(t, told, files)
		require.True(t, loaded["rabbit-ca.pem"])
		require.Contains(t, string(page), "/run/credentials/"+unit+".service/")
	}
}

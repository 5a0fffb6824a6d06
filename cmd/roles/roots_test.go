package roles

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// envRoots makes a process of this test load its roots: early, or at the first use.
const envRoots = "WAKECALL_TEST_ROOTS"

// The roots of the system are read when a process starts. A process without free files at their
// first use would trust no certificate from then on.
func TestSystemRootsAreReadAtTheStart(t *testing.T) {
	if when := os.Getenv(envRoots); when != "" {
		needRoots(t, when == "early")
		return
	}
	for when, trusted := range map[string]bool{"early": true, "late": false} {
		server := httptest.NewTLSServer(nil)
		defer server.Close()
		file := filepath.Join(t.TempDir(), "roots.pem")
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count", "1")
		child.Env = append(os.Environ(), envRoots+"="+when, "SSL_CERT_FILE="+file, "SSL_CERT_DIR="+t.TempDir())
		said, err := child.CombinedOutput()
		require.Equal(t, trusted, err == nil, "%s: %s", when, said)
	}
}

// needRoots verifies a certificate by the roots of the system after their file is gone.
func needRoots(t *testing.T, early bool) {
	t.Helper()
	file := os.Getenv("SSL_CERT_FILE")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	if early {
		_, err = (&App{}).roots()
		require.NoError(t, err)
	}
	require.NoError(t, os.Remove(file))
	_, err = certificate.Verify(x509.VerifyOptions{CurrentTime: certificate.NotBefore.Add(time.Hour)})
	require.NoError(t, err)
}

package helm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a process may take to start, on a machine that is busy.
const patience = 2 * time.Minute

// program is a binary that `make build` has left.
func program(t *testing.T, variable, name string) string {
	t.Helper()
	_ = os.Getenv("WAKECALL_COMPILED") // Go keeps the result of a test until a variable that it read changes
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join("..", "..", "bin", name)
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	require.FileExists(t, path, "make build")
	return path
}

// pair is a certificate of this machine in PEM, and its key.
var pair = sync.OnceValues(func() (certificate, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, _ := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
})

// secrets are what the Secrets and ConfigMaps of the values hold, as docs/kubernetes.md makes
// them, by the directory that each is mounted at.
func secrets() map[string]map[string][]byte {
	certificate, key := pair()
	return map[string]map[string][]byte{
		"secret-key":   {"secret-key": []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")},
		"api-keys":     {"api-keys": []byte("ops:" + digest + "\n")},
		"redis-url":    {"redis-url": []byte("redis://:word@127.0.0.1:1/0")},
		"brokers":      {"brokers": []byte(`{"brokers": [{"name": "main", "url": "amqp://shop:word@127.0.0.1:1/"}]}`)},
		"temporal-tls": {"ca.crt": certificate, "tls.crt": certificate, "tls.key": key},
		"oidc-client":  {"client-secret": []byte("word\n")},
		"callback-ca":  {"ca.crt": certificate},
		"ca":           {"private.pem": certificate},
		"tls":          {"tls.crt": certificate, "tls.key": key},
		"client-ca":    {"ca.crt": certificate},
	}
}

// mount leaves what a container sees below /etc/wakecall in a directory.
func mount(t *testing.T, container object) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, entry := range at[[]any](container, "volumeMounts") {
		name := at[string](entry.(object), "name")
		require.Equal(t, "/etc/wakecall/"+name, at[string](entry.(object), "mountPath"))
		require.Contains(t, secrets(), name)
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		for file, text := range secrets()[name] {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, file), text, 0o400))
		}
	}
	return dir
}

// machine is where the addresses of a container are on this machine.
type machine struct{ http, metrics, temporal string }

// launch runs a container as a process, with its arguments and its environment and no other.
func (m machine) launch(t *testing.T, container object) (process *exec.Cmd, output *bytes.Buffer) {
	t.Helper()
	here := strings.NewReplacer("/etc/wakecall", mount(t, container), "0.0.0.0:8080", m.http, "0.0.0.0:9090", m.metrics)
	process = exec.CommandContext(t.Context(), program(t, "WAKECALL_BIN", "wakecall"))
	for _, argument := range at[[]any](container, "args") {
		process.Args = append(process.Args, argument.(string))
	}
	process.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range environment(container) {
		process.Env = append(process.Env, name+"="+here.Replace(value))
	}
	process.Env = append(process.Env, "TEMPORAL_ADDRESS="+m.temporal)
	output = new(bytes.Buffer)
	process.Stdout, process.Stderr = output, output
	require.NoError(t, process.Start())
	return process, output
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// The binary reads whatever the chart tells it: it gets as far as Temporal, which is not there.
// A name that nobody reads would have ended it before. What was told once is not told again.
func TestTheBinaryReadsWhatItIsTold(t *testing.T) {
	t.Parallel()
	nowhere, told := machine{http: "127.0.0.1:0", metrics: "127.0.0.1:0", temporal: free(t)}, map[string]bool{}
	for name, values := range each() {
		made, err := render(values)
		require.NoError(t, err, name)
		for _, role := range []string{"serve", "api", "worker"} {
			if _, has := made["Deployment/shop-wakecall-"+role]; !has {
				continue
			}
			container := made.container(t, role)
			words := fmt.Sprint(container["args"], environment(container), container["volumeMounts"])
			if told[words] {
				continue
			}
			told[words] = true
			t.Run(name+" "+role, func(t *testing.T) {
				t.Parallel()
				process, output := nowhere.launch(t, container)
				require.Error(t, process.Wait())
				require.Contains(t, output.String(), "connecting to Temporal at "+nowhere.temporal)
			})
		}
	}
	require.Greater(t, len(told), 10)
}

// The control: a name that is misspelt, and a Secret without its key.
func TestWhatTheBinaryDoesNotReadIsSeen(t *testing.T) {
	t.Parallel()
	nowhere := machine{http: "127.0.0.1:0", metrics: "127.0.0.1:0", temporal: free(t)}
	for want, values := range map[string]object{
		"WAKECALL_RECONCILE_INTERVALL: there is no such setting": {"settings": object{"WAKECALL_RECONCILE_INTERVALL": "30s"}},
		"no such file or directory":                              {"secretKey": object{"key": "other"}},
	} {
		made, err := render(over(least(), values))
		require.NoError(t, err)
		process, output := nowhere.launch(t, made.container(t, "serve"))
		require.Error(t, process.Wait())
		require.Contains(t, output.String(), want)
	}
}

// temporal starts the standalone form, and says where its Temporal is.
func temporal(t *testing.T) (addr string) {
	t.Helper()
	addr = free(t)
	ctx, stop := context.WithCancel(context.Background())
	process := exec.CommandContext(ctx, program(t, "WAKECALL_STANDALONE_BIN", "wakecall-standalone"))
	process.Env = append(os.Environ(), "WAKECALL_TEMPORAL_ADDR="+addr, "WAKECALL_UI_ADDR="+free(t), "WAKECALL_HTTP_ADDR="+free(t), "WAKECALL_DATA_DIR="+t.TempDir())
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	said, err := process.StdoutPipe()
	require.NoError(t, err)
	process.Stderr = t.Output()
	require.NoError(t, process.Start())
	t.Cleanup(func() { stop(); _ = process.Wait() })
	ready := make([]byte, 1) // it greets when it is ready
	_, err = io.ReadFull(said, ready)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return addr
}

// On a Temporal every role answers its own probes, on the ports that it is said to have, and
// stops within the time that it is given.
func TestRolesAnswerTheirProbes(t *testing.T) {
	t.Parallel()
	addr := temporal(t)
	values := over(least(), object{
		"api": object{"replicas": 1}, "worker": object{"replicas": 1}, "tls": object{"secret": "tls"},
		"brokers": object{"secret": "rabbit"}, "redisURL": object{"secret": "redis"}, "stopTimeoutSeconds": 5,
	})
	made, err := render(values)
	require.NoError(t, err)
	for _, role := range []string{"serve", "api", "worker"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			container, m := made.container(t, role), machine{http: free(t), metrics: free(t), temporal: addr}
			process, output := m.launch(t, container)
			ended := make(chan error, 1)
			go func() { ended <- process.Wait() }()
			for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
				url := m.probe(t, container, probe)
				require.Eventually(t, func() bool { return answers(url) }, patience, 50*time.Millisecond, "%s of %s at %s", probe, role, url)
			}
			require.NoError(t, process.Process.Signal(syscall.SIGTERM))
			require.NoError(t, <-ended, output.String())
		})
	}
}

// A gateway reaches an identity provider whose certificate a private authority has signed, and
// without that authority it does not.
func TestAPrivateAuthorityIsTrusted(t *testing.T) {
	t.Parallel()
	addr := temporal(t)
	for name, values := range map[string]object{"trusted": {"caConfigMap": "private"}, "the control": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, refused := make(chan struct{}, 1), make(chan struct{}, 1)
			issuer := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { notify(asked) }))
			certificate, err := tls.X509KeyPair(pair())
			require.NoError(t, err)
			issuer.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			issuer.Config.ErrorLog = log.New(writing(func() { notify(refused) }), "", 0)
			issuer.StartTLS()
			t.Cleanup(issuer.Close)
			made, err := render(over(least(), over(values, object{
				"serve": object{"replicas": 0}, "api": object{"replicas": 1}, "stopTimeoutSeconds": 5,
				"oidc": object{"issuer": issuer.URL, "audience": "wakecall", "roles": "ops=admin:*"},
			})))
			require.NoError(t, err)
			m := machine{http: free(t), metrics: free(t), temporal: addr}
			process, output := m.launch(t, made.container(t, "api"))
			want, other := asked, refused
			if len(values) == 0 {
				want, other = refused, asked
			}
			select {
			case <-want:
			case <-other:
				require.Fail(t, "the provider saw the opposite")
			case <-time.After(patience):
				require.Fail(t, "the provider saw nothing")
			}
			require.NoError(t, process.Process.Signal(syscall.SIGTERM))
			require.NoError(t, process.Wait(), output.String())
		})
	}
}

// notify leaves a word in a channel unless there is one.
func notify(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// writing is called at each write.
type writing func()

func (w writing) Write(text []byte) (int, error) {
	w()
	return len(text), nil
}

// probe is the URL that Kubernetes would ask.
func (m machine) probe(t *testing.T, container object, name string) string {
	t.Helper()
	get := at[object](container, name, "httpGet")
	ports := map[string]string{}
	for _, entry := range at[[]any](container, "ports") {
		number := at[float64](entry.(object), "containerPort")
		ports[at[string](entry.(object), "name")] = map[float64]string{8080: m.http, 9090: m.metrics}[number]
	}
	addr := ports[at[string](get, "port")]
	require.NotEmpty(t, addr, "%s names a port that the container has", name)
	scheme := strings.ToLower(at[string](get, "scheme"))
	if scheme == "" {
		scheme = "http"
	}
	return fmt.Sprintf("%s://%s%s", scheme, addr, at[string](get, "path"))
}

// prober trusts every certificate, as Kubernetes does.
var prober = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}

func answers(url string) bool {
	response, err := prober.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

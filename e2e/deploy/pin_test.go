package deploy_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// registry returns the digests of tags as Docker Hub does, to clients with a token. Its tags
// change when moved is counted up.
type registry struct {
	host  string
	moved atomic.Int64
	// broken is an unknown image.
	broken atomic.Value
}

func newRegistry(t *testing.T) *registry {
	r := &registry{}
	r.broken.Store("")
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.host = server.Listener.Addr().String()
	return r
}

// digest is the digest of an image's tag.
func (r *registry) digest(image string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Append(nil, image, r.moved.Load())))
}

var manifest = regexp.MustCompile(`^/v2/(.+)/manifests/([^/]+)$`)

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := manifest.FindStringSubmatch(q.URL.Path)
	switch {
	case q.URL.Path == "/token":
		_, _ = fmt.Fprint(w, `{"token":"let-me-in"}`)
	case q.Header.Get("Authorization") != "Bearer let-me-in":
		w.Header().Set("Www-Authenticate", fmt.Sprintf("Bearer realm=%q,service=%q", "http://"+r.host+"/token", r.host))
		w.WriteHeader(http.StatusUnauthorized)
	case q.URL.Path == "/v2/":
	case path == nil || path[1]+":"+path[2] == r.broken.Load():
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		w.Header().Set("Docker-Content-Digest", r.digest(path[1]+":"+path[2]))
		w.Header().Set("Content-Length", "1000")
	}
}

// pinnable are copies of the two files with images from the registry.
type pinnable struct {
	registry            *registry
	compose, dockerfile string
}

var (
	imageLine  = regexp.MustCompile(`(?m)^( *image: |FROM )([a-z/-]+):([^ @\n]+)(@\S+)?`)
	fromDigest = regexp.MustCompile(`@sha256:[0-9a-f]{64}`)
)

func newPinnable(t *testing.T) pinnable {
	t.Helper()
	p := pinnable{registry: newRegistry(t), compose: filepath.Join(t.TempDir(), "compose.yml"), dockerfile: filepath.Join(t.TempDir(), "Dockerfile")}
	for from, to := range map[string]string{process.ComposeFile(): p.compose, filepath.Join(checkout, "Dockerfile"): p.dockerfile} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		moved := imageLine.ReplaceAllString(string(text), "${1}"+p.registry.host+"/$2:$3")
		moved = strings.ReplaceAll(moved, p.registry.host+"/wakecall:", "wakecall:")
		require.NoError(t, os.WriteFile(to, []byte(moved), 0o640))
	}
	return p
}

func (p pinnable) texts(t *testing.T) string {
	t.Helper()
	compose, err := os.ReadFile(p.compose)
	require.NoError(t, err)
	dockerfile, err := os.ReadFile(p.dockerfile)
	require.NoError(t, err)
	return string(compose) + string(dockerfile)
}

func (p pinnable) pin(t *testing.T) (output string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", filepath.Join(checkout, "deploy", "pin.sh"), p.compose, p.dockerfile)
	command.Env = append(os.Environ(), "CRANE="+process.Crane(t), "DOCKER_CONFIG="+t.TempDir())
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	err = command.Run()
	return printed.String(), err
}

func TestImagesArePinnedToWhatTheirTagsMean(t *testing.T) {
	t.Parallel()
	p := newPinnable(t)
	plain := p.texts(t)
	require.NotContains(t, plain, "@sha256:")
	for range 2 { // the second time the tags have moved
		output, err := p.pin(t)
		require.NoError(t, err, "%s", output)
		text := p.texts(t)
		images := 0
		for _, line := range imageLines(text) {
			if strings.HasPrefix(line, p.registry.host) {
				image, digest, _ := strings.Cut(strings.TrimPrefix(line, p.registry.host+"/"), "@")
				require.Equal(t, p.registry.digest(image), digest, image)
				images++
			}
		}
		require.Equal(t, 14, images, "twelve of the compose file, two of the Dockerfile")
		require.Equal(t, plain, fromDigest.ReplaceAllString(text, ""), "nothing else is touched")
		_, err = p.pin(t)
		require.NoError(t, err)
		require.Equal(t, text, p.texts(t), "it may be repeated")
		p.registry.moved.Add(1)
	}
}

// imageLines are the images that a text names.
func imageLines(text string) (images []string) {
	for _, line := range regexp.MustCompile(`(?m)^(?: *image: |FROM )(\S+)`).FindAllStringSubmatch(text, -1) {
		images = append(images, line[1])
	}
	return images
}

func TestNothingIsPinnedWhereOneImageIsNotKnown(t *testing.T) {
	t.Parallel()
	p := newPinnable(t)
	plain := p.texts(t)
	p.registry.broken.Store("redis:7.4.5")
	output, err := p.pin(t)
	require.Error(t, err)
	require.Contains(t, output, p.registry.host+"/redis:7.4.5: its registry tells no digest")
	require.Equal(t, plain, p.texts(t), "nothing is changed")
}

// Each image has the same text in every place, with a full digest.
func TestDigestsThatAreWritten(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	require.Regexp(t, pinned, "postgres:17.7"+digest)
	for _, wrong := range []string{"@sha256:0123", strings.ToUpper(digest), digest + "0", "@md5:0123", "@"} {
		require.NotRegexp(t, pinned, "postgres:17.7"+wrong)
	}
	compose, err := os.ReadFile(process.ComposeFile())
	require.NoError(t, err)
	dockerfile, err := os.ReadFile(filepath.Join(checkout, "Dockerfile"))
	require.NoError(t, err)
	written := map[string]string{}
	for _, image := range imageLines(string(compose) + string(dockerfile)) {
		tagged, digest, _ := strings.Cut(image, "@")
		if first, again := written[tagged]; again {
			require.Equal(t, first, digest, tagged)
		}
		written[tagged] = digest
		if strings.Contains(image, "@") {
			require.Regexp(t, pinned, image)
		}
	}
}

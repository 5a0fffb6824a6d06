package timer_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestCallbackURLs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://example.com/hook", "http://example.com:8080/a?b=c", "https://xn--bcher-kva.example", "http://127.0.0.1:9000/",
		"https://[2001:db8::1]:443/", "https://example.com.", "https://a_b.example/",
	} {
		require.Empty(t, timer.Callback{URL: good}.Check(), good)
	}
	for _, bad := range []string{
		"file:///etc/passwd", "gopher://x/", "ftp://x/", "javascript:alert(1)", "data:,x", "//host/x", "/x", "x", "https:host",
		"https:///x", "https://:443/", "https://host:0/", "https://host:99999/", "https://host:abc/", "https://host:22/",
		"https://host:6379/", "https://host:5432/", "https://host:7233/", "https://host:/", "https://user@host/", "https://user:pw@host/",
		"https://host/#frag", "https://host#", "https://bücher.example/", "https://ho st/", "https://host/\n", "https://[fe80::1%25eth0]/",
		"https://-a.example/", "https://a..b/", "https://" + strings.Repeat("a", 64) + ".example/",
		"https://" + strings.Repeat("a.", 130) + "example/", "https://example.com/" + strings.Repeat("a", 2048), "https://exa%6dple.com%00/",
	} {
		require.NotEmpty(t, timer.Callback{URL: bad}.Check(), bad)
	}
}

func FuzzCallbackURL(f *testing.F) {
	f.Add("https://example.com:8443/x?y#z")
	f.Add("http://[::ffff:127.0.0.1]/")
	f.Fuzz(func(t *testing.T, raw string) {
		if len(timer.Callback{URL: raw}.Check()) > 0 || raw == "" {
			return
		}
		u, err := url.Parse(raw)
		require.NoError(t, err)
		require.Contains(t, []string{"http", "https"}, u.Scheme)
		require.NotEmpty(t, u.Hostname())
		require.Nil(t, u.User)
		if u.Port() != "" {
			port, err := strconv.Atoi(u.Port())
			require.NoError(t, err)
			require.True(t, port == 80 || port == 443 || (port >= 1024 && port <= 65535), raw)
		}
	})
}

func TestCallbackHeaders(t *testing.T) {
	t.Parallel()
	header := func(name, value string) timer.Callback {
		return timer.Callback{Headers: map[string]string{name: value}}
	}
	require.Empty(t, header("Authorization", "Bearer x").Check())
	require.Empty(t, header("X-Tenant", "a b\tc").Check())
	for _, name := range []string{
		"Host", "content-length", "Transfer-Encoding", "CONNECTION", "Metadata-Flavor", "webhook-id", "Webhook-Signature",
		"Idempotency-Key", "x-idempotency-key", "X-Forwarded-For", "Proxy-Authorization", "Wakecall-Attempt", "Content-Type",
		"traceparent", "", "a b", "a:b", "é", strings.Repeat("a", 65),
	} {
		require.NotEmpty(t, header(name, "x").Check(), name)
	}
	for _, value := range []string{"a\r\nb", "a\nb", "\x00", "\x7f", "é", strings.Repeat("a", 1025)} {
		require.NotEmpty(t, header("X-A", value).Check(), "%q", value)
	}
	twice := timer.Callback{Headers: map[string]string{"X-A": "1", "x-a": "2", "X-B": "3", "Host": "4", "hOST": "5"}}
	var refused []string
	for _, fault := range twice.Check() {
		refused = append(refused, fault.Pointer)
	}
	require.Equal(t, []string{"/headers/Host", "/headers/hOST", "/headers/x-a"}, refused, "one of two would be sent, and nobody could say which")
	many := timer.Callback{Headers: map[string]string{}}
	for i := range timer.MaxHeaders + 1 {
		many.Headers["X-"+strconv.Itoa(i)] = "x"
	}
	require.NotEmpty(t, many.Check())
}

func TestOverrideKeepsCredentialsAtHome(t *testing.T) {
	t.Parallel()
	base := timer.Callback{
		URL: "https://base/", Headers: map[string]string{"Authorization": "secret", "X-A": "base"}, Timeout: timer.Duration(3 * time.Second),
	}
	own := timer.Callback{Headers: map[string]string{"X-A": "own"}}.Over(base)
	require.Equal(t, timer.Callback{
		URL: "https://base/", Headers: map[string]string{"Authorization": "secret", "X-A": "own"}, Timeout: timer.Duration(3 * time.Second),
	}, own)
	otherCase := timer.Callback{Headers: map[string]string{"x-a": "own", "AUTHORIZATION": "own"}}.Over(base)
	require.Equal(t, map[string]string{"x-a": "own", "AUTHORIZATION": "own"}, otherCase.Headers, "a name in another case is the same header")
	elsewhere := timer.Callback{URL: "https://other/"}.Over(base)
	require.Empty(t, elsewhere.Headers, "another host must not be sent the policy's credentials")
	require.Equal(t, "base", base.Headers["X-A"], "the policy is not changed")
	require.Equal(t, timer.DefaultAttemptTimeout, timer.Callback{}.Over(timer.Callback{}).Timeout.D())
}

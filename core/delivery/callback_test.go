package delivery_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestCallbackURLs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://example.com/hook", "http://example.com:8080/a?b=c", "https://xn--bcher-kva.example", "http://127.0.0.1:9000/",
		"https://[2001:db8::1]:443/", "https://example.com.", "https://a_b.example/",
	} {
		require.Empty(t, delivery.Callback{Destination: delivery.HTTP(good)}.Check(), good)
	}
	for _, bad := range []string{
		"file:///etc/passwd", "gopher://x/", "ftp://x/", "javascript:alert(1)", "data:,x", "//host/x", "/x", "x", "https:host",
		"https:///x", "https://:443/", "https://host:0/", "https://host:99999/", "https://host:abc/", "https://host:22/",
		"https://host:6379/", "https://host:5432/", "https://host:7233/", "https://host:/", "https://user@host/", "https://user:pw@host/",
		"https://host/#frag", "https://host#", "https://bücher.example/", "https://ho st/", "https://host/\n", "https://[fe80::1%25eth0]/",
		"https://-a.example/", "https://a..b/", "https://" + strings.Repeat("a", 64) + ".example/",
		"https://" + strings.Repeat("a.", 130) + "example/", "https://example.com/" + strings.Repeat("a", 2048), "https://exa%6dple.com%00/",
	} {
		require.NotEmpty(t, delivery.Callback{Destination: delivery.HTTP(bad)}.Check(), bad)
	}
}

func FuzzCallbackURL(f *testing.F) {
	f.Add("https://example.com:8443/x?y#z")
	f.Add("http://[::ffff:127.0.0.1]/")
	f.Fuzz(func(t *testing.T, raw string) {
		if len(delivery.Callback{Destination: delivery.HTTP(raw)}.Check()) > 0 || raw == "" {
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
	header := func(name, value string) delivery.Callback {
		return delivery.Callback{Headers: map[string]string{name: value}}
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
	twice := delivery.Callback{Headers: map[string]string{"X-A": "1", "x-a": "2", "X-B": "3", "Host": "4", "hOST": "5"}}
	var refused []string
	for _, fieldErr := range twice.Check() {
		refused = append(refused, fieldErr.Pointer)
	}
	require.Equal(t, []string{"/headers/Host", "/headers/hOST", "/headers/x-a"}, refused, "one of two would be sent, and nobody could say which")
	many := delivery.Callback{Headers: map[string]string{}}
	for i := range delivery.MaxHeaders + 1 {
		many.Headers["X-"+strconv.Itoa(i)] = "x"
	}
	require.NotEmpty(t, many.Check())
}

func TestOverrideKeepsCredentialsAtHome(t *testing.T) {
	t.Parallel()
	base := delivery.Callback{
		Destination: delivery.HTTP("https://base/"), Headers: map[string]string{"Authorization": "secret", "X-A": "base"}, Timeout: wire.Duration(3 * time.Second),
	}
	own := delivery.Callback{Headers: map[string]string{"X-A": "own"}}.Over(base)
	require.Equal(t, delivery.Callback{
		Destination: delivery.HTTP("https://base/"), Headers: map[string]string{"Authorization": "secret", "X-A": "own"}, Timeout: wire.Duration(3 * time.Second),
	}, own)
	otherCase := delivery.Callback{Headers: map[string]string{"x-a": "own", "AUTHORIZATION": "own"}}.Over(base)
	require.Equal(t, map[string]string{"x-a": "own", "AUTHORIZATION": "own"}, otherCase.Headers, "a name in another case is the same header")
	elsewhere := delivery.Callback{Destination: delivery.HTTP("https://other/")}.Over(base)
	require.Empty(t, elsewhere.Headers, "another host must not be sent the policy's credentials")
	require.Equal(t, "base", base.Headers["X-A"], "the policy is not changed")
	require.Equal(t, delivery.DefaultAttemptTimeout, delivery.Callback{}.Over(delivery.Callback{}).Timeout.D())
}

func TestCallbackIsAmendedFieldByField(t *testing.T) {
	t.Parallel()
	own := delivery.Callback{Destination: delivery.HTTP("https://h/a"), Headers: map[string]string{"A": "1", "B": "2"}, Timeout: wire.Duration(time.Second)}
	for name, c := range map[string]struct {
		change, want delivery.Callback
		refused      []string
	}{
		"the timeout": {delivery.Callback{Timeout: wire.Duration(time.Minute)},
			delivery.Callback{Destination: delivery.HTTP(own.URL), Headers: own.Headers, Timeout: wire.Duration(time.Minute)}, nil},
		"a header, in another case": {delivery.Callback{Headers: map[string]string{"a": "3", "C": "4"}},
			delivery.Callback{Destination: delivery.HTTP(own.URL), Headers: map[string]string{"a": "3", "B": "2", "C": "4"}, Timeout: own.Timeout}, nil},
		"the path": {delivery.Callback{Destination: delivery.HTTP("https://h/b")}, delivery.Callback{Destination: delivery.HTTP("https://h/b"), Headers: own.Headers, Timeout: own.Timeout}, nil},
		"the host": {delivery.Callback{Destination: delivery.HTTP("https://other/")}, delivery.Callback{}, []string{"/headers/A", "/headers/B"}},
		"the host and a header": {delivery.Callback{Destination: delivery.HTTP("https://other/"), Headers: map[string]string{"b": "5"}}, delivery.Callback{},
			[]string{"/headers/A"}},
		"the host and all headers": {delivery.Callback{Destination: delivery.HTTP("http://h/"), Headers: map[string]string{"A": "5", "B": "6"}},
			delivery.Callback{Destination: delivery.HTTP("http://h/"), Headers: map[string]string{"A": "5", "B": "6"}, Timeout: own.Timeout}, nil},
	} {
		got, errs := own.Amend(c.change)
		var refused []string
		for _, fieldErr := range errs {
			refused = append(refused, fieldErr.Pointer)
		}
		require.Equal(t, c.refused, refused, name)
		if c.refused == nil {
			require.Equal(t, c.want, got, name)
		}
	}
	require.Equal(t, map[string]string{"A": "1", "B": "2"}, own.Headers, "the old one is not touched")
	_, errs := delivery.Callback{Headers: map[string]string{"A": "1"}}.Amend(delivery.Callback{Destination: delivery.HTTP("https://h/")})
	require.Len(t, errs, 1, "what was given for the policy's receiver goes to no other")
}

func TestChangesAmendTheCallback(t *testing.T) {
	t.Parallel()
	spec := timer.Spec{Memo: timer.Memo{DueAt: wire.At(time.Now())}, Callback: &delivery.Callback{Destination: delivery.HTTP("https://h/a"), Headers: map[string]string{"A": "1"}}}
	change := timer.Change{Terms: timer.Terms{Callback: &delivery.Callback{Timeout: wire.Duration(time.Minute)}}}
	patched, err := spec.Apply(change)
	require.NoError(t, err)
	require.Equal(t, "https://h/a", patched.Callback.URL)
	require.Equal(t, wire.Duration(time.Minute), patched.Callback.Timeout)
	change.Replace = true
	replaced, err := spec.Apply(change)
	require.NoError(t, err)
	require.Equal(t, delivery.Callback{Timeout: wire.Duration(time.Minute)}, *replaced.Callback)
	_, err = spec.Apply(timer.Change{Terms: timer.Terms{Callback: &delivery.Callback{Destination: delivery.HTTP("https://other/")}}})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
}

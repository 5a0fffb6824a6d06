package dispatch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// The URL of a loader stays as the client wrote it.
func TestAQuestionKeepsTheURLOfItsLoader(t *testing.T) {
	t.Parallel()
	const shard = "shard=3&shards=25"
	for url, asked := range map[string]string{
		"https://a.example/items":                        "?" + shard,
		"https://a.example/items?":                       shard,
		"https://a.example/items?token=100%&b=x%20y&a;c": "&" + shard,
		"https://a.example/items?a=1&a=2&&b&=c&":         shard,
		"https://a.example/i%2Ft?x=%2f%2F+%zz?y=/":       "&" + shard,
		"https://a.example?sig=a%2Bb%3D%3D":              "&" + shard,
		"https://a.example/items?sharding=1&my-limit=2":  "&" + shard,
	} {
		loader := dispatch.Loader{URL: url, Shards: 25, PageSize: 500}
		order := dispatch.Dispatch{Key: wire.Key{BusinessType: "mass", BusinessID: "d"}, PerSecond: 1, Loader: &loader}
		require.Empty(t, order.Check(time.Now()), url)
		require.Equal(t, url+asked+"&limit=500", loader.Question(3, ""))
		require.Equal(t, url+asked+"&cursor=a%26b+c&limit=500", loader.Question(3, "a&b c"))
	}
}

// Wakecall's parameters must not be in the URL already.
func TestALoaderWithParametersOfWakecall(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"limit=5", "shard=1", "shards=2", "cursor=", "cursor", "a=b&limit=5", "a;limit=5", "li%6Dit=5", "x=100%&shard=1"} {
		order := dispatch.Dispatch{
			Key: wire.Key{BusinessType: "mass", BusinessID: "d"}, PerSecond: 1, Loader: &dispatch.Loader{URL: "https://a.example/?" + query},
		}
		errs := order.Check(time.Now())
		require.Len(t, errs, 1, query)
		require.Equal(t, "/loader/url", errs[0].Pointer)
		require.Equal(t, wire.CodeConflict, errs[0].Code)
	}
}

package timer

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The parameters that Wakecall appends to the URL of a loader.
const (
	paramShard  = "shard"
	paramShards = "shards"
	paramCursor = "cursor"
	paramLimit  = "limit"
)

// Question is the URL by which the items of a shard are asked for, from a cursor on. What
// the client wrote stays as it is, byte for byte: it may be a signed URL.
func (l DispatchLoader) Question(shard int, cursor string) string {
	asked := l.URL + l.joint() +
		paramShard + "=" + strconv.Itoa(shard) + "&" + paramShards + "=" + strconv.Itoa(l.Shards)
	if cursor != "" {
		asked += "&" + paramCursor + "=" + url.QueryEscape(cursor)
	}
	return asked + "&" + paramLimit + "=" + strconv.Itoa(l.PageSize)
}

// joint is what goes between the URL and the parameters of Wakecall.
func (l DispatchLoader) joint() string {
	_, query, asks := strings.Cut(l.URL, "?")
	switch {
	case !asks:
		return "?"
	case query == "" || strings.HasSuffix(query, "&"):
		return ""
	}
	return "&"
}

// clash is a parameter of the URL that Wakecall appends as well; "" for none. Some servers
// part parameters by semicolons.
func (l DispatchLoader) clash() string {
	_, query, _ := strings.Cut(l.URL, "?")
	parts := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	for _, part := range parts {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if slices.Contains([]string{paramShard, paramShards, paramCursor, paramLimit}, name) {
			return name
		}
	}
	return ""
}

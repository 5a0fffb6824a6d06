package dispatch

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Loader is a client's URL that returns the items of a shard page by page, from a cursor on. It
// must return the same page for the same cursor.
type Loader struct {
	URL    string `json:"url"`
	Shards int    `json:"shards,omitzero"`
	// PageSize is the number of items per request.
	PageSize int `json:"page_size,omitzero"`
	// Timeout bounds one request.
	Timeout wire.Duration `json:"timeout,omitzero"`
}

func (l Loader) check() (errs wire.FieldErrors) {
	if l.URL == "" {
		errs.Add("/url", wire.CodeRequired, "is required")
	} else if why := delivery.CheckURL(l.URL); why != "" {
		errs.Add("/url", wire.CodeInvalidURL, why)
	} else if name := l.clash(); name != "" {
		errs.Add("/url", wire.CodeConflict, "must not have the parameter "+name+": Wakecall appends its own")
	}
	wire.EnforceNonZero(&errs, fieldShards, l.Shards)
	wire.EnforceNonZero(&errs, fieldPageSize, l.PageSize)
	wire.EnforceNonZero(&errs, delivery.FieldTimeout, l.Timeout)
	return errs
}

// The parameters that Wakecall appends to the URL of a loader.
const (
	paramShard  = "shard"
	paramShards = "shards"
	paramCursor = "cursor"
	paramLimit  = "limit"
)

// Question returns the URL that requests the items of a shard, from a cursor on. It leaves the
// client's URL as it is, byte for byte, because it may be signed.
func (l Loader) Question(shard int, cursor string) string {
	asked := l.URL + l.separator() +
		paramShard + "=" + strconv.Itoa(shard) + "&" + paramShards + "=" + strconv.Itoa(l.Shards)
	if cursor != "" {
		asked += "&" + paramCursor + "=" + url.QueryEscape(cursor)
	}
	return asked + "&" + paramLimit + "=" + strconv.Itoa(l.PageSize)
}

// separator returns the separator between the URL and Wakecall's parameters.
func (l Loader) separator() string {
	_, query, asks := strings.Cut(l.URL, "?")
	switch {
	case !asks:
		return "?"
	case query == "" || strings.HasSuffix(query, "&"):
		return ""
	}
	return "&"
}

// clash returns a parameter of the URL that Wakecall also appends; "" for none. Some servers
// separate parameters by semicolons.
func (l Loader) clash() string {
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

// CheckReach returns what is wrong with the destination of a loader.
func (l Loader) CheckReach(r delivery.Reach) (errs wire.FieldErrors) {
	errs.Under("/loader", r.Destination(delivery.HTTP(l.URL)))
	return errs
}

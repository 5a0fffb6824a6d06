package requests

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// markLen is the length of the mark that ties a page token to its filter.
const markLen = 8

// markOf is a checksum over a token and the filter, or timer, it belongs to. Temporal
// answers a damaged token with an error that looks like an outage.
func markOf(token []byte, filter any) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v\n%s", filter, token))
	return sum[:markLen]
}

// SealToken makes Temporal's page token opaque, and usable with one filter only.
func SealToken(token []byte, filter any) string {
	if len(token) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(markOf(token, filter), token...))
}

// PageToken is the page token of a list with a filter, as [SealToken] made it; nil without one. It is read
// last: a token does not fit a filter that could not be read, and is not to blame for that.
func (q *Query) PageToken(filter any) []byte {
	text := q.Values.Get(PageTokenName)
	if text == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) <= markLen || len(q.Errs) == 0 && !slices.Equal(raw[:markLen], markOf(raw[markLen:], filter)) {
		q.Errs.Add(PageTokenName, wire.CodeInvalidParameter, "must be the next_page_token of a call with the same filter")
		return nil
	}
	return raw[markLen:]
}

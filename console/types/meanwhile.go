package types

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
)

// versionsSince are the versions of a policy after the one that a form was filled for, the oldest first.
// Its deletion comes after it, and for a form that was filled for none, all since the last one do.
func versionsSince(versions []calls.PolicyVersion, etag string) (since []calls.Entry) {
	seen, _ := strconv.Atoi(strings.Trim(etag, `"`))
	for _, one := range versions {
		if etag == noPolicy && one.Deleted || etag != noPolicy && !one.Follows(seen) {
			break
		}
		since = append(since, one.Entry())
	}
	slices.Reverse(since)
	return since
}

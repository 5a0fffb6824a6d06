package types

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
)

// versionsSince returns the versions of a policy since the form was shown, the oldest first. A deletion is one of
// them. If there was no policy then, they are all versions since the last deletion.
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

package console

import (
	"net/url"
	"strings"
)

// Root is what every path of the console begins with.
const Root = "/console/"

// The pages that the strip leads to.
const (
	emergencyPath = Root + "emergency"
	healthPath    = Root + "health"
)

// typePath is the page of a business type.
func typePath(businessType string) string { return Root + "types/" + url.PathEscape(businessType) }

// timerPath is the path of a timer in the API, or beneath a prefix of the console.
func timerPath(prefix, businessType, id string) string {
	return prefix + "timers/" + url.PathEscape(businessType) + "/" + url.PathEscape(id)
}

// list is the address of a list with a search.
func list(search, token string) string {
	query := url.Values{}
	if search != "" {
		query.Set("q", search)
	}
	if token != "" {
		query.Set("page_token", token)
	}
	if len(query) == 0 {
		return Root + "timers"
	}
	return Root + "timers?" + query.Encode()
}

// typedAs is the search for one business type.
func typedAs(businessType string) string { return "type:" + businessType }

// parent is the page that a form of a change stands on.
func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// within is a path of the console, and its start for whatever leads elsewhere.
func within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, Root) || strings.ContainsAny(next, "\\\r\n\t") {
		return Root
	}
	if strings.Contains(u.Path, "/..") || strings.Contains(u.Path, "/./") {
		return Root
	}
	return next
}

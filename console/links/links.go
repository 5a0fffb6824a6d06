package links

import (
	"net/url"
	"strings"
)

// Root is what every path of the console begins with.
const Root = "/console/"

// The pages that the strip leads to.
const (
	Emergency = Root + "emergency"
	Health    = Root + "health"
	// Live keeps a page up to date.
	Live = Root + "live"
)

// TypePath is the page of a business type.
func TypePath(businessType string) string { return Root + "types/" + url.PathEscape(businessType) }

// JobPath is the page of a bulk job.
func JobPath(id string) string { return Root + "jobs/" + url.PathEscape(id) }

// List is the address of a list with a search.
func List(search, token string) string {
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

// TypedAs is the search for one business type.
func TypedAs(businessType string) string { return "type:" + businessType }

// Done is a page of the console that says what was done before it was asked for.
func Done(page, what string) string {
	u, err := url.Parse(Within(page))
	if err != nil {
		return Root
	}
	query := u.Query()
	query.Set("done", what)
	return u.EscapedPath() + "?" + query.Encode()
}

// Without is an address without one of its parameters.
func Without(page, parameter string) string {
	u, err := url.Parse(page)
	if err != nil || !u.Query().Has(parameter) {
		return page
	}
	query := u.Query()
	query.Del(parameter)
	u.RawQuery = query.Encode()
	return u.RequestURI()
}

// Parent is the page that a form of a change stands on.
func Parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// Within is a path of the console, and its start for whatever leads elsewhere.
func Within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsAny(next, "\\\r\n\t") {
		return Root
	}
	if !strings.HasPrefix(u.Path, Root) || strings.Contains(u.Path, "/..") || strings.Contains(u.Path, "/./") {
		return Root
	}
	return next
}

package contract

import (
	"net/http"
	"net/url"
	"strings"
)

// operation is a call that the document describes.
type operation struct {
	place
	// path holds the values of the path's parameters.
	path map[string]string
}

// find returns the operation of a request.
func (d *Document) find(request *http.Request) (operation, bool) {
	paths, _ := d.at("#/paths")
	for template := range paths.object {
		values, ok := match(template, request.URL)
		if !ok {
			continue
		}
		item, _ := d.below(paths, template)
		if found, ok := d.below(item, strings.ToLower(request.Method)); ok {
			return operation{place: found, path: values}, true
		}
	}
	return operation{}, false
}

// match matches a URL with a template, segment by segment, each decoded once.
func match(template string, target *url.URL) (values map[string]string, ok bool) {
	names, segments := strings.Split(template, "/"), strings.Split(target.EscapedPath(), "/")
	if len(names) != len(segments) {
		return nil, false
	}
	values = map[string]string{}
	for i, name := range names {
		segment, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		if inner, isParameter := strings.CutPrefix(name, "{"); isParameter {
			values[strings.TrimSuffix(inner, "}")] = segment
		} else if name != segment {
			return nil, false
		}
	}
	return values, true
}

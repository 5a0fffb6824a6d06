package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
)

// pagesOf lists the items under a name in the pages of a list, page by page. It ends with the
// first error.
func pagesOf[T any](ctx context.Context, c *caller, list call, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range wholePagesOf[T](ctx, c, list, name) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// wholePagesOf is pagesOf, a page at a time.
func wholePagesOf[T any](ctx context.Context, c *caller, list call, name string) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		list.method, list.query = http.MethodGet, maps.Clone(list.query)
		if list.query == nil {
			list.query = url.Values{}
		}
		for {
			items, next, err := pageOf[T](ctx, c, list, name)
			if !yield(items, err) || err != nil || next == "" {
				return
			}
			list.query.Set("page_token", next)
		}
	}
}

func pageOf[T any](ctx context.Context, c *caller, list call, name string) (items []T, next string, err error) {
	var page map[string]json.RawMessage
	if _, err := c.do(ctx, list, &page); err != nil {
		return nil, "", err
	}
	for field, into := range map[string]any{name: &items, "next_page_token": &next} {
		if raw, ok := page[field]; ok && err == nil {
			err = json.Unmarshal(raw, into)
		}
	}
	return items, next, err
}

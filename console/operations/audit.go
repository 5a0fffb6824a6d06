package operations

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
)

// auditPage lists the audit records of this gateway.
type auditPage struct {
	site.Frame
	Known calls.Records
	// Asked is what the records are selected by, as it was typed.
	Asked url.Values
	// Operations and Outcomes are what may be selected by.
	Operations, Outcomes []string
	First, Next          string
	Problem              *calls.Problem
}

func (c *Pages) showAudit(v *site.Visit) {
	asked := v.R.URL.Query()
	page := &auditPage{Frame: c.Frame(v, "audit.title"), Asked: asked, Outcomes: calls.AuditOutcomes}
	_, page.Problem = c.Call(v, calls.Get(calls.Root+"audit").With(auditQuery(asked)), &page.Known)
	if page.Problem != nil && page.Problem.Status == http.StatusForbidden {
		c.RefuseBy(v, page.Problem)
		return
	}
	for _, record := range page.Known.Records {
		page.Operations = append(page.Operations, record.Operation())
	}
	slices.Sort(page.Operations)
	page.Operations = slices.Compact(page.Operations)
	if asked.Has("page_token") {
		page.First = auditLink(asked, "")
	}
	if page.Known.NextPageToken != "" {
		page.Next = auditLink(asked, page.Known.NextPageToken)
	}
	c.Render(v, calls.StatusOf(page.Problem), "audit", page)
}

// auditQuery is what was typed as the API takes it. A time is one of UTC.
func auditQuery(asked url.Values) url.Values {
	query := url.Values{"page_size": {strconv.Itoa(site.PageSize)}}
	for _, name := range []string{"who", "business_type", "operation", "outcome", "from", "to", "page_token"} {
		value := asked.Get(name)
		if value == "" {
			continue
		}
		if name == "from" || name == "to" {
			value = instantOf(value)
		}
		query.Set(name, value)
	}
	return query
}

// instantOf is a time of a form as the API takes it. A form leaves out seconds that are zero, and the
// zone.
func instantOf(typed string) string {
	const minute = "2006-01-02T15:04"
	switch len(typed) {
	case len(minute):
		return typed + ":00Z"
	case len(minute + ":05"):
		return typed + "Z"
	default:
		return typed
	}
}

func auditLink(asked url.Values, token string) string {
	query := url.Values{}
	for name, values := range asked {
		if name != "page_token" && values[0] != "" {
			query[name] = values
		}
	}
	if token != "" {
		query.Set("page_token", token)
	}
	return links.Root + "audit?" + query.Encode()
}

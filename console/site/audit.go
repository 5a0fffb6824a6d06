package site

import (
	"strings"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/internal/audit"
)

// DescribeForm describes the form of a visit for the audit. A form that is refused before any call
// of the API leaves a record by that. The API itself records its calls.
func (c *Site) DescribeForm(v *Visit, r Route) {
	asked := audit.Asked{
		Who: v.Who, Route: links.Root + parameters.Replace(r.Path), Action: v.R.PathValue("action"), BusinessType: v.R.PathValue("type"),
	}
	if asked.Who == nil { // it was refused before it was known
		asked.Who = c.Sessions.Known(v.Exchange)
	}
	if asked.BusinessType != "" {
		asked.BusinessID = v.R.PathValue("id")
	} else {
		asked.ID, asked.BusinessType = v.R.PathValue("id"), v.R.PostFormValue("business_type")
	}
	asked.Everything = asked.BusinessType == "" && strings.HasPrefix(asked.Route, links.Emergency)
	audit.FormOf(v.R.Context()).Describe(asked)
}

// parameters writes the parameters of a path as a record has them.
var parameters = strings.NewReplacer("{", ":", "}", "")

// RefusePart records for the audit that one of the changes in a form was refused before its call.
func (v *Visit) RefusePart(part audit.Refusal) {
	part.Who = v.Who
	audit.FormOf(v.R.Context()).RefusePart(part)
}

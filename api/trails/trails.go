package trails

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/internal/audit"
)

// Records lists the audit records that the gateway has.
type Records interface {
	List(q audit.Query) (page trail.Page, more bool)
}

// Options are what the call needs.
type Options struct {
	Records Records
	// Gateway is the identity of this process.
	Gateway string
}

// Register adds the call that lists records.
func Register(contract calls.Routes, options Options) {
	h := handlers{options}
	contract.Get(paths.Prefix+"audit", calls.Administering(calls.Filtered).Showing(examples), h.list)
}

// examples has the parameters whose values are of this call only.
var examples = map[string]string{"outcome": string(trail.Done)}

// parameters are the query parameters of the call.
var parameters = []string{"who", "business_type", "operation", "outcome", "from", "to", requests.PageTokenName, "page_size"}

type handlers struct{ Options }

func (h handlers) list(c echo.Context) error {
	query, err := readQuery(requests.ReadQuery(c, parameters...))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if query.BusinessType != "" {
		if err := calls.Permit(ctx, query.BusinessType); err != nil {
			return err
		}
	}
	query.Sees = func(record *trail.Record) bool { return sees(ctx, record) }
	page, more := h.Records.List(query)
	page.Gateway = h.Gateway
	if more {
		last := page.Records[len(page.Records)-1].Place()
		page.NextPageToken = requests.SealToken(tokenOf(last), query.Filter)
	}
	return c.JSON(http.StatusOK, page)
}

// sees reports whether the caller is an admin of all that a call was about.
func sees(ctx context.Context, record *trail.Record) bool {
	types := record.Target.Types()
	if len(types) == 0 {
		types = []string{""}
	}
	for _, businessType := range types {
		if !calls.Sees(ctx, businessType) {
			return false
		}
	}
	return true
}

func readQuery(q *requests.Query) (query audit.Query, err error) {
	query.Filter = trail.Filter{
		Who: q.Values.Get("who"), BusinessType: q.BusinessType(), Operation: q.Values.Get("operation"),
		Outcome: requests.OneOf(q, "outcome", trail.Outcomes()), From: q.Instant("from"), To: q.Instant("to"),
	}
	query.Size = q.Number("page_size", limits.DefaultPageSize, limits.MaxPageSize)
	q.Errs.Under("", requests.Span(query.From, query.To).Check())
	query.After = placeOf(q.PageToken(query.Filter))
	return query, q.Err()
}

// tokenForm is a place in a page token.
const tokenForm = "%d %s"

// placeOf reads the place in a page token; nil for the first page.
func placeOf(token []byte) *trail.Place {
	place := &trail.Place{}
	if n, _ := fmt.Sscanf(string(token), tokenForm, &place.At, &place.ID); n < 1 {
		return nil
	}
	return place
}

func tokenOf(place trail.Place) []byte { return fmt.Appendf(nil, tokenForm, place.At, place.ID) }

package objectives

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/ledger"
)

// Ledgers have the counts of timers that ended.
type Ledgers interface {
	Read(ctx context.Context, r ledger.Request, sees func(businessType string) bool) (ledger.Reports, error)
}

// Register adds the call for reports.
func Register(contract calls.Routes, ledgers Ledgers) {
	h := handlers{ledgers}
	contract.Get(paths.Prefix+"slo", calls.Viewing(calls.Filtered, calls.NoPayloads).Showing(examples), h.reports)
}

// examples has the parameters of this call only.
var examples = map[string]string{"window": "24h", "target": "0.999"}

type handlers struct{ ledgers Ledgers }

func (h handlers) reports(c echo.Context) error {
	request, err := readRequest(requests.ReadQuery(c, "business_type", "window", "target"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if request.BusinessType != "" {
		if err := calls.Permit(ctx, request.BusinessType); err != nil {
			return err
		}
	}
	reports, err := h.ledgers.Read(ctx, request, func(businessType string) bool { return calls.Sees(ctx, businessType) })
	c.Response().Header().Add(echo.HeaderVary, echo.HeaderAccept)
	switch {
	case err != nil:
		return err
	case wantsCSV(c.Request()):
		return writeCSV(c, reports.BusinessTypes)
	default:
		return c.JSON(http.StatusOK, reports)
	}
}

func readRequest(q *requests.Query) (r ledger.Request, err error) {
	r = ledger.Request{BusinessType: q.BusinessType(), Window: slo.DefaultWindow, Target: slo.Target}
	if text := q.Values.Get("window"); text != "" {
		var window wire.Duration
		if window.UnmarshalText([]byte(text)) != nil || window.D() < slo.MinWindow || window.D() > slo.MaxWindow {
			q.Errs.Add("window", wire.CodeInvalidParameter, "must be a duration from 1h to 30d")
		}
		r.Window = window.D()
	}
	if text := q.Values.Get("target"); text != "" {
		if r.Target, err = strconv.ParseFloat(text, 64); err != nil || !(r.Target > 0 && r.Target < 1) {
			q.Errs.Add("target", wire.CodeInvalidParameter, "must be a number above 0 and below 1")
		}
	}
	return r, q.Err()
}

// wantsCSV reports whether the first media type that a caller accepts is text/csv. One with a weight
// of 0 is not accepted.
func wantsCSV(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get(echo.HeaderAccept), ",")
	media, params, err := mime.ParseMediaType(first)
	if err != nil || media != "text/csv" {
		return false
	}
	weight, err := strconv.ParseFloat(params["q"], 64)
	return err != nil || weight > 0
}

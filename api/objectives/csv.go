package objectives

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
)

// writeCSV writes a line for each report (RFC 4180). A figure that is not known is empty.
func writeCSV(c echo.Context, reports []slo.Report) error {
	lines := [][]string{columns}
	for _, r := range reports {
		lines = append(lines, row(r))
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(lines); err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8; header=present", text.Bytes())
}

var columns = []string{
	"business_type", "from", "to", "on_time_within", "target", "share", "p50_ms", "p99_ms", "worst_ms", "budget_left",
	"booked", "bytes", "rung", "on_time", "missed", "delivered", "failed", "expired", "attempts", "open",
	"judged_by_shortest", "judged_by_longest", "unsent",
}

func row(r slo.Report) []string {
	row := []string{r.BusinessType, r.From.String(), r.To.String(), r.Objective.OnTime.String(), fmt.Sprint(r.Objective.Target)}
	row = append(row, optional(r.Share), optional(r.P50MS), optional(r.P99MS), optional(r.WorstMS), optional(r.BudgetLeft))
	for _, count := range []int64{r.Booked, r.Bytes, r.Rung, r.OnTime, r.Missed, r.Delivered, r.Failed, r.Expired, r.Attempts} {
		row = append(row, fmt.Sprint(count))
	}
	return append(row, optional(r.Open), promise(r.Objective.JudgedBy.Shortest), promise(r.Objective.JudgedBy.Longest), fmt.Sprint(r.Unsent))
}

func promise(onTime wire.Duration) string {
	if onTime == 0 {
		return ""
	}
	return onTime.String()
}

func optional[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

package timers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

// An answer is not much larger than its question, whatever is wrong with it.
func TestAnswersToManyFieldErrorsAreBounded(t *testing.T) {
	t.Parallel()
	unknown := func(n int) string {
		var fields []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"f%d":1`, i))
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	problem := func(body string) problem.Document {
		members, err := decode.Parse([]byte(body))
		if err == nil {
			_, err = ReadBooking(members, delivery.Reach{})
		}
		return problems.DocumentOf(err)
	}
	many := problem(unknown(200))
	require.Len(t, many.Errors, wire.MaxFieldErrors)
	require.Equal(t, "The request has more than 100 invalid values, of which 100 are named.", many.Detail)
	require.Equal(t, wire.FieldErrors{{Code: wire.CodeTooLarge, Detail: "must have at most 200 members"}}, problem(unknown(9000)).Errors)
	long := problem(`{"callback":{"headers":{"` + strings.Repeat("x", 60_000) + `":1}}}`)
	require.Contains(t, long.Errors, wire.FieldError{
		Pointer: "/callback/headers", Code: wire.CodeInvalidType, Detail: "has a name that is too long to repeat here and must be a string",
	})
	require.Less(t, len(problem(`{"`+strings.Repeat("x", 60_000)+`":1,"`+strings.Repeat("x", 60_000)+`":1}`).Detail), 400)

	results := make([]BatchResult, 1000)
	for i := range results {
		results[i] = (handlers{}).addItem(t.Context(), []byte(unknown(100)), bookings.Request{})
	}
	limitFieldErrors(results)
	named := 0
	for _, result := range results {
		require.NotEmpty(t, result.Problem.Errors)
		named += len(result.Problem.Errors)
	}
	require.Equal(t, limits.MaxBatchFieldErrors+len(results)-limits.MaxBatchFieldErrors/wire.MaxFieldErrors, named)
}

// What is nested too deep is said to be so, and where.
func TestNesting(t *testing.T) {
	t.Parallel()
	nestedBy := func(n int) string {
		return `{"business_type":"order","business_id":"1","delay":"1h","payload":` + strings.Repeat("[", n) + `"]{\""` + strings.Repeat("]", n) + "}"
	}
	_, err := decode.Parse([]byte(nestedBy(wire.MaxNesting - 1)))
	require.NoError(t, err)
	for _, n := range []int{wire.MaxNesting, 30_000} {
		_, err = decode.Parse([]byte(nestedBy(n)))
		require.Equal(t, "The body is nested more than 1000 deep at /payload.", problems.DocumentOf(err).Detail)
		require.Equal(t, http.StatusBadRequest, problems.DocumentOf(err).Status)
	}
	result := (handlers{}).addItem(t.Context(), []byte(nestedBy(wire.MaxNesting)), bookings.Request{})
	require.Equal(t, "The body is nested more than 1000 deep at /payload.", result.Problem.Detail, "one of a batch for itself")
	_, err = decode.Parse([]byte(strings.Replace(nestedBy(wire.MaxNesting), `"delay"`, `"business_id"`, 1)))
	require.Equal(t, "The body has a duplicate name at /business_id.", problems.DocumentOf(err).Detail, "what is wrong before is said")
}

package api

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
)

// pathKey is the timer that the path names.
func pathKey(c echo.Context) (wire.Key, error) {
	key := wire.Key{BusinessType: pathParam(c, paramType), BusinessID: pathParam(c, paramID)}
	return key, key.Check().Err()
}

// pathType is the business type that the path names, with the query of a call that
// knows these parameters.
func pathType(c echo.Context, known ...string) (string, *query) {
	name := pathParam(c, paramType)
	q := readQuery(c, known...)
	q.errs = append(wire.CheckBusinessType(name), q.errs...)
	return name, q
}

// query reads the query parameters of a call; one that the call does not know
// is refused, since a mistyped filter would select everything.
type query struct {
	values url.Values
	errs   wire.FieldErrors
}

func readQuery(c echo.Context, known ...string) *query {
	q := &query{values: url.Values{}}
	for part := range strings.SplitSeq(c.Request().URL.RawQuery, "&") {
		if part != "" {
			q.read(part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		switch values := q.values[name]; {
		case !slices.Contains(known, name):
			q.errs.Add(name, wire.CodeUnknownField, "is not a parameter of this call")
		case len(values) > 1 && name != labelName:
			q.errs.Add(name, wire.CodeInvalidParameter, "must be given once")
		case slices.Contains(values, "") && name != pageTokenName:
			q.errs.Add(name, wire.CodeInvalidParameter, "must not be empty; leave it out")
		}
	}
	return q
}

// labelName is the one parameter that may be given again.
const labelName = "label"

// pageTokenName is the one parameter that may be empty, since the token of the last page
// is.
const pageTokenName = "page_token"

// read takes one name=value. What net/url cannot read it drops, and with it a filter: the
// call would answer everything.
func (q *query) read(part string) {
	rawName, rawValue, _ := strings.Cut(part, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil {
		name = rawName
	}
	shown := strings.ToValidUTF8(name, "\uFFFD")
	value, valueErr := url.QueryUnescape(rawValue)
	switch {
	case strings.Contains(part, ";"):
		q.errs.Add(shown, wire.CodeInvalidParameter, "must not contain a bare semicolon; parameters are separated by &")
	case err != nil || valueErr != nil:
		q.errs.Add(shown, wire.CodeInvalidParameter, "must have every % followed by two hexadecimal digits")
	case !utf8.ValidString(name) || !utf8.ValidString(value):
		q.errs.Add(shown, wire.CodeInvalidParameter, "must be UTF-8")
	default:
		q.values.Add(name, value)
	}
}

func (q *query) instant(name string) (at wire.Instant) {
	if text := q.values.Get(name); text != "" && at.UnmarshalText([]byte(text)) != nil {
		q.errs.Add(name, wire.CodeInvalidTime, wire.InstantRefusal(text))
	}
	return at
}

// number is a parameter from 1 to highest.
func (q *query) number(name string, fallback, highest int) int {
	text := q.values.Get(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > highest {
		q.errs.AddRange(name, 1, highest)
	}
	return n
}

// oneOf refuses a parameter that is none of the words, unless it is left out.
func oneOf[T ~string](q *query, name string, words []T) T {
	value := T(q.values.Get(name))
	if value != "" && !slices.Contains(words, value) {
		q.errs.Add(name, wire.CodeInvalidParameter, fmt.Sprintf("must be one of %v", words))
	}
	return value
}

// flag is a parameter that is true, false, or left out for false.
func (q *query) flag(name string) bool {
	text := q.values.Get(name)
	if text != "" && text != "true" && text != "false" {
		q.errs.Add(name, wire.CodeInvalidParameter, "must be true or false")
	}
	return text == "true"
}

// wait is how long the caller waits for an effect.
func (q *query) wait() time.Duration {
	text := q.values.Get("wait")
	if text == "" {
		return kernel.DefaultWait
	}
	var parsed wire.Duration
	err := parsed.UnmarshalText([]byte(text))
	d := parsed.D()
	if err != nil || d < 0 || d > kernel.MaxWait {
		q.errs.Add("wait", wire.CodeInvalidParameter, "must be a duration from 0s to "+kernel.MaxWait.String())
	}
	return d
}

func (q *query) businessType() string {
	const name = "business_type"
	value := q.values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range wire.CheckBusinessType(value) {
		q.errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

func (q *query) businessID(name string) string {
	value := q.values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range (wire.Key{BusinessType: "any", BusinessID: value}).Check() {
		q.errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

// labels are those that are asked for, each as key=value.
func (q *query) labels() (labels timer.Labels) {
	if slices.Contains(q.values[labelName], "") { // which is refused already
		return nil
	}
	if q.values.Has(labelName) {
		labels = timer.Labels{}
	}
	for _, text := range q.values[labelName] {
		key, value, ok := strings.Cut(text, "=")
		if _, twice := labels[key]; !ok || twice {
			q.errs.Add(labelName, wire.CodeInvalidParameter, "must be key=value, once for each key")
			return nil
		}
		labels[key] = value
	}
	for _, fieldErr := range labels.Check() {
		q.errs.Add(labelName, fieldErr.Code, fieldErr.Detail)
	}
	return labels
}

func (q *query) err() error { return q.errs.Err() }

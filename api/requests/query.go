package requests

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

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
)

// Key returns the timer that the path names.
func Key(c echo.Context) (wire.Key, error) {
	key := wire.Key{BusinessType: paths.Param(c, paths.Type), BusinessID: paths.Param(c, paths.ID)}
	return key, key.Check().Err()
}

// BusinessType returns the business type that the path names, and the query of a call that knows
// these parameters.
func BusinessType(c echo.Context, known ...string) (string, *Query) {
	name := paths.Param(c, paths.Type)
	q := ReadQuery(c, known...)
	q.Errs = append(wire.CheckBusinessType(name), q.Errs...)
	return name, q
}

// Query reads the query parameters of a call; one that the call does not know
// is refused, since a mistyped filter would select everything.
type Query struct {
	Values url.Values
	Errs   wire.FieldErrors
}

// ReadQuery reads the query of a call that knows these parameters.
func ReadQuery(c echo.Context, known ...string) *Query {
	q := &Query{}
	if c.Request().URL.RawQuery == "" {
		return q
	}
	q.Values = url.Values{}
	for part := range strings.SplitSeq(c.Request().URL.RawQuery, "&") {
		if part != "" {
			q.read(part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		switch values := q.Values[name]; {
		case !slices.Contains(known, name):
			q.Errs.Add(name, wire.CodeUnknownField, "is not a parameter of this call")
		case len(values) > 1 && name != LabelName:
			q.Errs.Add(name, wire.CodeInvalidParameter, "must be given once")
		case slices.Contains(values, "") && name != PageTokenName:
			q.Errs.Add(name, wire.CodeInvalidParameter, "must not be empty; leave it out")
		}
	}
	return q
}

// LabelName is the one parameter that may be given again.
const LabelName = "label"

// PageTokenName is the one parameter that may be empty, since the token of the last page
// is.
const PageTokenName = "page_token"

// read takes one name=value. What net/url cannot read it drops, and with it a filter: the
// call would answer everything.
func (q *Query) read(part string) {
	rawName, rawValue, _ := strings.Cut(part, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil {
		name = rawName
	}
	shown := strings.ToValidUTF8(name, "\uFFFD")
	value, valueErr := url.QueryUnescape(rawValue)
	switch {
	case strings.Contains(part, ";"):
		q.Errs.Add(shown, wire.CodeInvalidParameter, "must not contain a bare semicolon; parameters are separated by &")
	case err != nil || valueErr != nil:
		q.Errs.Add(shown, wire.CodeInvalidParameter, "must have every % followed by two hexadecimal digits")
	case !utf8.ValidString(name) || !utf8.ValidString(value):
		q.Errs.Add(shown, wire.CodeInvalidParameter, "must be UTF-8")
	default:
		q.Values.Add(name, value)
	}
}

// Instant returns a parameter that is a moment; 0 without one.
func (q *Query) Instant(name string) (at wire.Instant) {
	if q.refused(name) { // given twice, say: a span would be judged by one of them
		return 0
	}
	if text := q.Values.Get(name); text != "" && at.UnmarshalText([]byte(text)) != nil {
		q.Errs.Add(name, wire.CodeInvalidTime, wire.InstantRefusal(text))
	}
	return at
}

// Span is the time between the parameters from and to. The moment of to does not belong to it.
func Span(from, to wire.Instant) wire.Span {
	return wire.Span{From: wire.Bound{Field: "from", At: from}, To: wire.Bound{Field: "to", At: to}}
}

// Step returns the parameter step, a whole number of units up to longest; fallback without one.
func (q *Query) Step(unit, fallback, longest time.Duration) time.Duration {
	const name = "step"
	text := q.Values.Get(name)
	if text == "" {
		return fallback
	}
	var step wire.Duration
	if step.UnmarshalText([]byte(text)) != nil || step.D() < unit || step.D()%unit != 0 || step.D() > longest {
		q.Errs.Add(name, wire.CodeInvalidParameter,
			fmt.Sprintf("must be a multiple of %s, up to %s", wire.Duration(unit), wire.Duration(longest)))
	}
	return step.D()
}

// Number returns a parameter from 1 to highest; fallback without one.
func (q *Query) Number(name string, fallback, highest int) int {
	text := q.Values.Get(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > highest {
		q.Errs.AddRange(name, 1, highest)
	}
	return n
}

// OneOf refuses a parameter that is none of the words, unless it is left out.
func OneOf[T ~string](q *Query, name string, words []T) T {
	value := T(q.Values.Get(name))
	if value != "" && !slices.Contains(words, value) {
		q.Errs.Add(name, wire.CodeInvalidParameter, fmt.Sprintf("must be one of %v", words))
	}
	return value
}

// Flag returns a parameter that is true or false. The default is false.
func (q *Query) Flag(name string) bool {
	text := q.Values.Get(name)
	if text != "" && text != "true" && text != "false" {
		q.Errs.Add(name, wire.CodeInvalidParameter, "must be true or false")
	}
	return text == "true"
}

// Wait returns how long the caller waits for an effect, from 0 to [kernel.MaxWait].
func (q *Query) Wait() time.Duration {
	text := q.Values.Get("wait")
	if text == "" {
		return kernel.DefaultWait
	}
	var parsed wire.Duration
	err := parsed.UnmarshalText([]byte(text))
	d := parsed.D()
	if err != nil || d < 0 || d > kernel.MaxWait {
		q.Errs.Add("wait", wire.CodeInvalidParameter, "must be a duration from 0s to "+kernel.MaxWait.String())
	}
	return d
}

// BusinessType returns the parameter business_type; "" without one.
func (q *Query) BusinessType() string {
	const name = "business_type"
	value := q.Values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range wire.CheckBusinessType(value) {
		q.Errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

// BusinessID returns a parameter that is a business id; "" without one.
func (q *Query) BusinessID(name string) string {
	value := q.Values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range (wire.Key{BusinessType: "any", BusinessID: value}).Check() {
		q.Errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

// Labels returns the labels in the parameters label, each as key=value; nil for none.
func (q *Query) Labels() (labels timer.Labels) {
	if slices.Contains(q.Values[LabelName], "") { // which is refused already
		return nil
	}
	if q.Values.Has(LabelName) {
		labels = timer.Labels{}
	}
	for _, text := range q.Values[LabelName] {
		key, value, ok := strings.Cut(text, "=")
		if _, twice := labels[key]; !ok || twice {
			q.Errs.Add(LabelName, wire.CodeInvalidParameter, "must be key=value, once for each key")
			return nil
		}
		labels[key] = value
	}
	for _, fieldErr := range labels.Check() {
		q.Errs.Add(LabelName, fieldErr.Code, fieldErr.Detail)
	}
	return labels
}

// Position returns a parameter that counts from 0; 0 without one.
func (q *Query) Position(name string) int {
	text := q.Values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		q.Errs.Add(name, wire.CodeInvalidParameter, "must be a number from 0")
	}
	return n
}

// refused reports whether a parameter is refused already.
func (q *Query) refused(name string) bool { return isNamed(q.Errs, name) }

func isNamed(errs wire.FieldErrors, name string) bool {
	return slices.ContainsFunc(errs, func(one wire.FieldError) bool { return one.Pointer == name })
}

// Err returns a refusal that names every wrong parameter once, by what was found first; nil for none.
// Each wrong label is named.
func (q *Query) Err() error {
	var once wire.FieldErrors
	for _, fieldErr := range q.Errs {
		if fieldErr.Pointer == LabelName || !isNamed(once, fieldErr.Pointer) {
			once = append(once, fieldErr)
		}
	}
	return once.Err()
}

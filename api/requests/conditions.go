package requests

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// entityTag reads If-Match: "" without one, * for any, or what stands in the
// quotes of one strong tag.
func entityTag(c echo.Context, form *regexp.Regexp, detail string) (tag string, err error) {
	values := c.Request().Header.Values(timer.HeaderIfMatch)
	if len(values) == 0 {
		return "", nil
	}
	value := strings.TrimSpace(values[0])
	if len(values) == 1 && value == timer.AnyTag {
		return timer.AnyTag, nil
	}
	if len(values) > 1 || !form.MatchString(value) {
		return "", wire.FieldErrors{{Pointer: timer.HeaderIfMatch, Code: wire.CodeInvalidParameter, Detail: detail}}.Err()
	}
	return value[1 : len(value)-1], nil
}

// timerTag is the ETag of a timer, or its revision in quotes.
var timerTag = regexp.MustCompile(`^"[1-9][0-9]{0,8}(-[0-9a-f]{8})?"$`)

// IfMatchTimer reads the If-Match of a change of a timer.
func IfMatchTimer(c echo.Context) (string, error) {
	return entityTag(c, timerTag, `must be one ETag of the timer, its revision in quotes such as "3", or *`)
}

var policyTag = regexp.MustCompile(`^"[1-9][0-9]{0,8}"$`)

// IfMatchPolicy reads the If-Match of a change of a policy.
func IfMatchPolicy(c echo.Context) (version int, mustExist bool, err error) {
	tag, err := entityTag(c, policyTag, `must be the ETag of the policy, such as "3", or *`)
	if err != nil || tag == "" || tag == timer.AnyTag {
		return 0, tag == timer.AnyTag, err
	}
	version, err = strconv.Atoi(tag)
	return version, false, err
}

// IfNoneMatchPolicy reads the If-None-Match of a change of a policy: whether there must be none.
func IfNoneMatchPolicy(c echo.Context) (bool, error) {
	values := c.Request().Header.Values(calls.HeaderIfNoneMatch)
	if len(values) == 0 {
		return false, nil
	}
	if len(values) > 1 || strings.TrimSpace(values[0]) != timer.AnyTag {
		return false, wire.FieldErrors{{Pointer: calls.HeaderIfNoneMatch, Code: wire.CodeInvalidParameter, Detail: "must be *"}}.Err()
	}
	return true, nil
}

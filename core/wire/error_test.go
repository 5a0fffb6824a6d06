package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error reads as one line, with what is wrong with each field and with its cause.
func TestAnErrorReadsAsOneLine(t *testing.T) {
	t.Parallel()
	amount := FieldError{Pointer: "/amount", Detail: "must be a number", Example: "5"}
	when := FieldError{Pointer: "/when", Detail: "must be a time"}
	wait := FieldError{Pointer: "/wait", Detail: DurationForm, Example: "5s"} // the form has examples
	for want, err := range map[string]*Error{
		"invalid-request: It is wrong.":                                              {},
		"invalid-request: It is wrong. /amount: must be a number, such as 5":         {FieldErrors: FieldErrors{amount}},
		"invalid-request: It is wrong. /wait: " + DurationForm:                       {FieldErrors: FieldErrors{wait}},
		"invalid-request: It is wrong. /when: must be a time: out of order":          {FieldErrors: FieldErrors{when}, Cause: errors.New("out of order")},
		"invalid-request: It is wrong. /when: must be a time; /when: must be a time": {FieldErrors: FieldErrors{when, when}},
	} {
		err.Code, err.Message = InvalidRequest, "It is wrong."
		require.Equal(t, want, err.Error())
	}
}

// No code of ours is that of a foreign error, or of none.
func TestCodeOfWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	require.Equal(t, NotFound, CodeOf(fmt.Errorf("reading: %w", &Error{Code: NotFound})))
	require.Equal(t, Internal, CodeOf(errors.New("foreign")))
	require.Equal(t, Internal, CodeOf(nil))
}

// An answer names so many fields, and of each so much.
func TestAnErrorIsLimited(t *testing.T) {
	t.Parallel()
	long := FieldError{Pointer: "/" + strings.Repeat("p", 2*MaxPointer), Detail: strings.Repeat("d", 2*MaxFieldErrorDetail)}
	whole := &Error{Code: InvalidRequest, Message: "m", FieldErrors: FieldErrors{long, long}}
	limited := whole.Limit(1)
	require.Len(t, limited.FieldErrors, 1)
	require.Equal(t, MoreFieldErrors(1), limited.Message)
	require.Less(t, len(limited.FieldErrors[0].Pointer), len(long.Pointer))
	require.Less(t, len(limited.FieldErrors[0].Detail), len(long.Detail))
	require.Len(t, whole.FieldErrors, 2, "the error itself stays as it is")
	require.Equal(t, "m", whole.Limit(2).Message)
}

// What follows from a value that cannot be read is left out, whatever its depth.
func TestErrorsThatFollowAreLeftOut(t *testing.T) {
	t.Parallel()
	for unread, left := range map[string][]string{
		"":     nil, // the whole body
		"/a":   {"/b"},
		"/a/c": {"/a", "/b"},
		"/x":   {"/a", "/a/c", "/b"},
	} {
		errs := FieldErrors{{Pointer: unread}}
		errs.Complete(FieldErrors{{Pointer: "/a"}, {Pointer: "/a/c"}, {Pointer: "/b"}})
		var pointers []string
		for _, one := range errs[1:] {
			pointers = append(pointers, one.Pointer)
		}
		require.Equal(t, left, pointers, "%q is unread", unread)
	}
}

// What follows from other fields is left out if one of them, or a part of one, could not be read.
func TestErrorsThatFollowFromOtherFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	for unread, left := range map[string][]string{
		"/rule/every":   {"/rule", "/fallback"},
		"/rule/every/x": {"/rule", "/fallback"},
		"/rule/everyx":  {"/rule", "/rule/offset", "/fallback"},
		"/callback":     {"/rule", "/rule/offset"},
		"/callback/url": {"/rule", "/rule/offset"},
		"/fallback/url": {"/rule", "/rule/offset", "/fallback"},
		"/url":          {"/rule", "/rule/offset", "/fallback"},
		"":              nil,
	} {
		var rule, fallback, found FieldErrors
		rule.Add("", CodeConflict, "is not alone")
		rule.AddBeside("/offset", CodeConflict, "is allowed only with every", "/every")
		fallback.AddBeside("", CodeConflict, "is allowed only with callback.url", "/../callback/url")
		found.Under("/rule", rule)
		found.Under("/fallback", fallback)
		errs := FieldErrors{{Pointer: unread}}
		errs.Complete(found)
		var pointers []string
		for _, one := range errs[1:] {
			pointers = append(pointers, one.Pointer)
		}
		require.Equal(t, left, pointers, "%q is unread", unread)
	}
	empty := FieldErrors{{Pointer: "/every", Code: CodeRequired}}
	empty.Complete(FieldErrors{{Pointer: "/offset", beside: []string{"/every"}}})
	require.Len(t, empty, 2, "it was read")
	var whole FieldErrors
	whole.AddBeside("", CodeRequired, "name a field", "")
	for unread, left := range map[string]int{"/a": 1, "/a/x": 1, "/b/c": 2} {
		errs, found := FieldErrors{{Pointer: unread}}, FieldErrors{}
		found.Under("/a", whole)
		errs.Complete(found)
		require.Len(t, errs, left, unread)
	}
}

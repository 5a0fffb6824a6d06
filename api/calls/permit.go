package calls

import (
	"context"
	"fmt"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
)

// Authorize refuses a call that the caller may not make, by the request line alone.
func (r Routes) Authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !strings.HasPrefix(c.Path(), paths.Prefix) { // nothing is there, or it is open to all
			return next(c)
		}
		who, ok := r.Scopes[callOf(c)]
		if !ok { // the resource does not know the method
			return next(c)
		}
		if err := who.admit(auth.From(c.Request().Context()), c); err != nil {
			if who.Type == Named {
				audits.EntryOf(c).ReadBody(c.Request())
			}
			return err
		}
		return next(c)
	}
}

// admit judges what can be judged before the handler is called.
func (s Scope) admit(p auth.Principal, c echo.Context) error {
	businessType := ""
	switch s.Type {
	case InPath:
		businessType = paths.Param(c, paths.Type)
	case AllTypes:
	case Untyped:
		if s.Role == auth.NoRole && p.By != "" && p.By != auth.ByAckToken {
			return nil
		}
		fallthrough
	case Named, ByID, Filtered:
		if !p.MaySomewhere(s.Role) {
			return refusedRole(s.Role)
		}
		return nil
	default: // undeclared
		return refusedRole(auth.Admin)
	}
	if !p.May(s.Role, businessType) {
		return s.refused(businessType)
	}
	if s.Payloads == OnlyPayloads && !p.SeesPayloads(businessType) {
		return &wire.Error{Code: problems.Forbidden, Message: "The call needs the right to see payloads."}
	}
	return nil
}

// Permit refuses a business type for which the caller lacks the role of the call. "" stands for
// all types.
func Permit(ctx context.Context, businessType string) error {
	return ScopeOf(ctx).Permit(ctx, businessType)
}

// Permit refuses a business type for which the caller lacks the role of the scope. "" stands for
// all types.
func (s Scope) Permit(ctx context.Context, businessType string) error {
	if auth.From(ctx).May(s.Role, businessType) {
		return nil
	}
	return s.refused(businessType)
}

// PermitFound is Permit for something that was found by an id. If the caller may not even see
// the type, the error is absent.
func PermitFound(ctx context.Context, businessType string, absent error) error {
	if !auth.From(ctx).May(auth.Viewer, businessType) {
		return absent
	}
	return Permit(ctx, businessType)
}

// Sees reports whether an answer may show a business type to the caller.
func Sees(ctx context.Context, businessType string) bool { return Permit(ctx, businessType) == nil }

func (s Scope) refused(businessType string) error {
	switch {
	case businessType != "":
		return &wire.Error{Code: problems.Forbidden, Message: fmt.Sprintf("The call needs the role %s for its business type.", s.Role)}
	case s.Type == AllTypes:
		return &wire.Error{Code: problems.Forbidden, Message: fmt.Sprintf("The call needs the role %s for all business types.", s.Role)}
	default:
		return &wire.Error{
			Code: problems.Forbidden, Message: fmt.Sprintf("The call must name a business type for which you have the role %s.", s.Role),
		}
	}
}

// refusedRole refuses a caller that has the role for no business type.
func refusedRole(role auth.Role) error {
	return &wire.Error{Code: problems.Forbidden, Message: fmt.Sprintf("The call needs the role %s.", role)}
}

package site

import "github.com/wakecall/wakecall/internal/auth"

// Barred says why the visitor can change nothing on the page, and names the contact if that helps. It is "" if the
// visitor can change something, or if the page says it elsewhere. The page of one business type checks that type.
func (f *Frame) Barred() string {
	return f.BarredUnless(f.Who == nil || f.Who.MaySomewhere(auth.Operator), "actions.barred")
}

// BarredUnless is [Frame.Barred] with the caller's own verdict. why is a key of the catalogues.
func (f *Frame) BarredUnless(may bool, why string) string {
	switch fixed := f.Fixed(); {
	case f.Who != nil && fixed != "":
		return fixed
	case !may:
		return f.Asking(f.T(why))
	default:
		return ""
	}
}

// Asking adds the contact to a reason.
func (f *Frame) Asking(why string) string {
	if f.Look.Contact == "" {
		return why
	}
	return why + " " + f.T("actions.contact", f.Look.Contact)
}

// Barred overrides that of [Frame]. The page says why, so this adds only the contact.
func (p *refusedPage) Barred() string {
	if !p.forbidden || p.Look.Contact == "" {
		return ""
	}
	return p.T("actions.contact", p.Look.Contact)
}

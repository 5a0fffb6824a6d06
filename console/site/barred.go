package site

import "github.com/wakecall/wakecall/internal/auth"

// Barred is why the visitor may change nothing of what the page shows, and whom to ask; "" where that is not so,
// or the page says it itself. A page about one business type asks for that one.
func (f Frame) Barred() string {
	return f.BarredUnless(f.Who == nil || f.Who.MaySomewhere(auth.Operator), "actions.barred")
}

// BarredUnless is [Frame.Barred] for who may change something or not, with a key of the catalogues for why not.
func (f Frame) BarredUnless(may bool, why string) string {
	switch {
	case f.Who != nil && f.mode != On:
		return f.Asking(f.T("actions.readonly"))
	case !may:
		return f.Asking(f.T(why))
	default:
		return ""
	}
}

// Asking is a reason, and whom to ask.
func (f Frame) Asking(why string) string {
	if f.Look.Contact == "" {
		return why
	}
	return why + " " + f.T("actions.contact", f.Look.Contact)
}

// Barred implements that of [Frame]: the page says why, and only whom to ask is missing.
func (p refusedPage) Barred() string {
	if !p.forbidden || p.Look.Contact == "" {
		return ""
	}
	return p.T("actions.contact", p.Look.Contact)
}

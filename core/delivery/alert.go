package delivery

import "github.com/wakecall/wakecall/core/wire"

// CheckOutcomes returns what is wrong with the recipients of outcomes.
func CheckOutcomes(delivered, failed *Alert) (errs wire.FieldErrors) {
	if delivered != nil {
		errs.Under("/on_delivered", delivered.Check())
	}
	if failed != nil {
		errs.Under("/on_failed", failed.Check())
	}
	return errs
}

// Alert names the recipient of reports of failure for a business type.
type Alert struct {
	Destination
}

// OrNil returns nil if the alert names no recipient.
func (a *Alert) OrNil() *Alert {
	if a == nil || !a.Addressed() {
		return nil
	}
	return a
}

// Check returns what is wrong with the alert, field by field.
func (a Alert) Check() (errs wire.FieldErrors) {
	if a.URL == "" && a.Broker == "" {
		errs.AddBeside("/url", wire.CodeRequired, "give url or broker", "/broker")
		return errs
	}
	return a.Destination.Check()
}

package audit

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/wakecall/wakecall/core/trail"
)

// Booker books the events of [Events].
type Booker interface {
	// Ready returns why no event can be booked.
	Ready() error
	// Book books the event of a record under its id. It may be called again.
	Book(id string, event []byte) error
}

// Events is a [Sink] that delivers each record as a timer of a business type, with the same
// guarantees. The policy of that type has the recipient, and signs.
type Events struct {
	booker       Booker
	businessType string
	logger       *slog.Logger

	mu   sync.Mutex
	kept []event
}

type event struct {
	id   string
	body []byte
}

// NewEvents returns a sink that books events of a business type.
func NewEvents(booker Booker, businessType string, logger *slog.Logger) *Events {
	return &Events{booker: booker, businessType: businessType, logger: logger}
}

// Begin implements [Sink]. It always allows changes of the policy of the events, so that it can
// be repaired.
func (e *Events) Begin(intent *trail.Record) (Open, error) {
	if intent.Target.BusinessType == e.businessType {
		return openEvent{e}, nil
	}
	err := e.flush()
	if err == nil {
		err = e.booker.Ready()
	}
	return openEvent{e}, err
}

type openEvent struct{ of *Events }

// End implements [Open].
func (o openEvent) End(record *trail.Record) {
	body, err := eventOf(record)
	if err == nil {
		o.of.mu.Lock()
		o.of.kept = append(o.of.kept, event{record.ID, body})
		o.of.mu.Unlock()
		err = o.of.flush()
	}
	if err != nil {
		o.of.logger.Error("an audit event could not be booked: calls are refused until it is", "record", string(body), "cause", err)
	}
}

// Abandon implements [Open].
func (openEvent) Abandon() {}

// flush books the stored events.
func (e *Events) flush() error {
	e.mu.Lock()
	kept := e.kept
	e.kept = nil
	e.mu.Unlock()
	for i, one := range kept {
		if err := e.booker.Book(one.id, one.body); err != nil {
			e.mu.Lock()
			e.kept = append(kept[i:], e.kept...)
			e.mu.Unlock()
			return err
		}
	}
	return nil
}

// Close implements [Sink].
func (e *Events) Close() error {
	if err := e.flush(); err != nil {
		return errors.Join(errors.New("audit events are not booked"), err)
	}
	return nil
}

package roles

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/tuning"
)

// records has the audit of calls that change something. The latest records are in memory, to be listed.
type records struct {
	log    *audit.Log
	recent *audit.Recent
}

// openAudit opens the sinks of the audit, once. A worker has none.
func (a *App) openAudit() error {
	if a.audit.log != nil {
		return nil
	}
	recent := audit.NewRecent(time.Now())
	sinks := []audit.Sink{recent}
	switch a.Config.Audit {
	case "", config.AuditOff:
	case config.AuditStdout:
		sinks = append(sinks, audit.NewLines(os.Stdout, a.Logger))
	default:
		file, err := audit.OpenFile(a.Config.Audit, a.Logger)
		if err != nil {
			return fmt.Errorf("WAKECALL_AUDIT: %w", err)
		}
		if err := recent.Load(a.Config.Audit); err != nil {
			return errors.Join(fmt.Errorf("WAKECALL_AUDIT: %w", err), file.Close())
		}
		sinks = append(sinks, file)
	}
	if a.Config.AuditType != "" {
		events := auditEvents{a.Engine, a.Config.AuditType}
		sinks = append(sinks, audit.NewEvents(events, a.Config.AuditType, a.Logger))
	}
	a.audit = records{audit.NewLog(sinks...), recent}
	return nil
}

// auditEvents books the events of the audit as timers due at once. Wakecall itself is the
// author.
type auditEvents struct {
	engine       *engine.Engine
	businessType string
}

// Ready implements [audit.Booker].
func (e auditEvents) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), tuning.CallTimeout)
	defer cancel()
	_, err := e.engine.Policies.Policy(ctx, e.businessType)
	return err
}

// Book implements [audit.Booker]. An event booked before exists already, under the id of its
// record.
func (e auditEvents) Book(id string, event []byte) error {
	ctx, cancel := context.WithTimeout(audit.With(context.Background(), audit.Behalf{Of: audit.Wakecall}), tuning.CallTimeout)
	defer cancel()
	now := wire.Duration(0)
	_, _, err := e.engine.Timers.Add(ctx, bookings.Request{
		Key:   wire.Key{BusinessType: e.businessType, BusinessID: id},
		Terms: timer.Terms{Delay: &now, Payload: &timer.Payload{Data: event, ContentType: timer.ContentTypeJSON}},
	})
	if wire.CodeOf(err) == wire.AlreadyFinished {
		return nil
	}
	return err
}

package oidc

import (
	"context"
	"strings"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Keep asks for the keys again and again, until ctx is done: so who comes first does not wait,
// and a key that was withdrawn is known to be.
func (p *Provider) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		wait := tuning.KeysRefresh
		if p.keys.refresh(ctx) != nil {
			wait = tuning.KeysRetry
		}
		next := time.NewTimer(wait)
		select {
		case <-next.C:
		case <-ctx.Done():
			next.Stop()
		}
	}
}

// noted notes how a question to the issuer ended. The log has one line when it stops to
// answer, and one when it answers again.
func (p *Provider) noted(withdrawn bool, err error) {
	if withdrawn { // what it signed is good no longer
		p.withdrawals.Add(1)
		p.verified.Purge()
	}
	switch {
	case err != nil && !p.down.Swap(true):
		p.options.Logger.Warn("the identity provider does not answer: nobody new is let in by it", "issuer", p.options.Issuer, "error", clip(err.Error()))
	case err == nil && p.down.Swap(false):
		p.options.Logger.Info("the identity provider answers again", "issuer", p.options.Issuer)
	}
}

// clip shortens what a provider says for the log.
func clip(text string) string {
	if len(text) > tuning.LoggedBytes {
		return strings.ToValidUTF8(text[:tuning.LoggedBytes], "") + "…"
	}
	return text
}

// Note says in one line that the provider does not answer; "" where it does, or was not asked
// yet.
func (p *Provider) Note() string {
	if p.down.Load() {
		return "the identity provider does not answer"
	}
	return ""
}

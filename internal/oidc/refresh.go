package oidc

import (
	"context"
	"strings"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// RefreshKeys fetches the keys periodically, until ctx is done. So the first token does not wait, and a
// withdrawn key is noticed.
func (p *Provider) RefreshKeys(ctx context.Context) {
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

// recordAnswer records the result of a request to the issuer. The log has one line when it stops
// answering, and one when it answers again.
func (p *Provider) recordAnswer(withdrawn bool, err error) {
	if withdrawn { // tokens signed with a withdrawn key are invalid
		p.withdrawals.Add(1)
		p.verified.Purge()
	}
	switch {
	case err != nil && !p.down.Swap(true):
		p.options.Logger.Warn("the identity provider does not answer: new tokens are refused", "issuer", p.options.Issuer, "error",
			clip(err.Error()))
	case err == nil && p.down.Swap(false):
		p.options.Logger.Info("the identity provider answers again", "issuer", p.options.Issuer)
	}
}

// clip shortens a provider's text for the log.
func clip(text string) string {
	if len(text) > tuning.LoggedBytes {
		return strings.ToValidUTF8(text[:tuning.LoggedBytes], "") + "…"
	}
	return text
}

// Outage returns a line if the provider does not answer; "" if it does, or was not asked yet.
func (p *Provider) Outage() string {
	if p.down.Load() {
		return "the identity provider does not answer"
	}
	return ""
}

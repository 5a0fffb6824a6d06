package console_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/wire"
)

// BenchmarkPages is what a page costs by itself where there are 300 types: the engine answers at once.
func BenchmarkPages(b *testing.B) {
	h := open(b, plan{every: time.Hour})
	for n := range 300 {
		rule := closing()
		rule.BusinessType = fmt.Sprintf("order-close-%d", n)
		h.shelf.rules = append(h.shelf.rules, rule)
	}
	minute := h.now.UTC().Truncate(time.Minute)
	for n := range 60 {
		h.shelf.ahead = append(h.shelf.ahead, forecast.Step{At: wire.At(minute.Add(time.Duration(n) * time.Minute)), Due: n})
	}
	for _, path := range []string{"/console/", "/console/types", "/console/types/order-close-7", "/console/timers", "/console/forecast", "/console/health"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				if page := h.get(path); page.StatusCode != http.StatusOK {
					b.Fatal(page.body)
				}
			}
		})
	}
}

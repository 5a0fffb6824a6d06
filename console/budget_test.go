package console_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

var loaded = regexp.MustCompile(`(?:href|src)="(/console/assets/[^"]+)"`)

// overTheWire is how many bytes a browser is sent for a page and for what it loads.
func (h *harness) overTheWire(path string) (n int) {
	h.t.Helper()
	page := h.get(path).body
	n = len(h.get(path, "Accept-Encoding", "gzip").body)
	for _, file := range loaded.FindAllStringSubmatch(page, -1) {
		n += len(h.get(file[1], "Accept-Encoding", "gzip").body)
	}
	return n
}

// The budget of the first page, with what it loads, also where there are many types.
func TestTheFirstPageIsLight(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	for n := range 300 {
		rule := closing()
		rule.BusinessType = fmt.Sprintf("order-close-%d", n)
		h.shelf.rules = append(h.shelf.rules, rule)
	}
	h.shelf.ahead = stepsFrom(*h.now)
	require.Less(t, h.overTheWire("/console/login"), 50<<10)
	h.signIn("root")
	require.Greater(t, len(h.get("/console/").body), 100<<10, "what is measured is a full page")
	for _, path := range []string{"/console/", "/console/types", "/console/health"} {
		require.LessOrEqual(t, h.overTheWire(path), 150<<10, path)
	}
}

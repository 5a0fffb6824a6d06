// Package programs runs the programs as separate processes: it kills, interrupts, restores
// and upgrades them, and follows the tutorial. It starts no server in its own process.
package programs

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
